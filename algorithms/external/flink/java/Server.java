package cepbench;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.BufferedOutputStream;
import java.io.BufferedInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.minicluster.RpcServiceSharing;

/**
 * Serves one worker over its standard input and output, and ends when the input ends, since the worker is gone then.
 *
 * A request is its length (four bytes, big-endian), the operation, the job, and the input of the job. An answer is its
 * length, 0 or 1 for an error, and numbers or the error's text.
 */
public final class Server {
    private static final int SLOTS = 64;

    private Server() {}

    /** Runs until the input ends. */
    public static void main(String[] arguments) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16));
        DataOutputStream out =
            new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        System.setOut(System.err);
        LinkedBlockingQueue<byte[]> requests = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> read(in, requests), "requests");
        reader.setDaemon(true);
        reader.start();
        try {
            serve(out, requests);
        } catch (Throwable error) {  // Flink's threads would keep the process alive
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void serve(DataOutputStream out, LinkedBlockingQueue<byte[]> requests) throws Exception {
        Map<Integer, Job> jobs = new HashMap<>();
        try (MiniCluster cluster = new MiniCluster(configuration())) {
            cluster.start();
            Memory memory = new Memory();
            answer(out, Answer.empty());
            while (true) {
                try {
                    answer(out, serve(ByteBuffer.wrap(requests.take()).order(ByteOrder.LITTLE_ENDIAN), jobs, cluster, memory));
                } catch (Throwable error) {
                    fail(out, error);
                }
            }
        }
    }

    /** Reads ahead, so that the end of the input is noticed at any time. */
    private static void read(DataInputStream in, LinkedBlockingQueue<byte[]> requests) {
        try {
            while (true) {
                byte[] request = new byte[in.readInt()];
                in.readFully(request);
                requests.add(request);
            }
        } catch (EOFException end) {
            Runtime.getRuntime().halt(0);
        } catch (Throwable error) {
            Runtime.getRuntime().halt(1);
        }
    }

    private static MiniClusterConfiguration configuration() {
        Configuration configuration = new Configuration();
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.parse("32mb"));
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.parse("32mb"));
        configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.parse("1mb"));
        configuration.set(RestOptions.BIND_PORT, "0");
        configuration.set(HeartbeatManagerOptions.HEARTBEAT_TIMEOUT, Duration.ofHours(1));
        return new MiniClusterConfiguration.Builder()
            .setConfiguration(configuration)
            .setNumTaskManagers(1)
            .setNumSlotsPerTaskManager(SLOTS)
            .setRpcServiceSharing(RpcServiceSharing.SHARED)
            .build();
    }

    private static ByteBuffer serve(ByteBuffer request, Map<Integer, Job> jobs, MiniCluster cluster, Memory memory)
        throws Exception {
        byte what = request.get();
        if (what == 'M') {
            return Answer.longs(memory.peak());
        }
        if (what == 'J') {
            byte[] text = new byte[request.remaining()];
            request.get(text);
            Job job = new Job(Spec.parse(new String(text, StandardCharsets.UTF_8)));
            job.start(cluster);
            jobs.put(job.number, job);
            return Answer.longs(new long[] {job.number});
        }
        int number = request.getInt();
        if (what == 'X') {
            jobs.remove(number).call(null);
            return Answer.empty();
        }
        return jobs.get(number).call(request);
    }

    private static void answer(DataOutputStream out, ByteBuffer numbers) throws Exception {
        out.writeInt(1 + (numbers == null ? 0 : numbers.remaining()));
        out.writeByte(0);
        if (numbers != null) {
            out.write(numbers.array(), 0, numbers.remaining());
        }
        out.flush();
    }

    private static void fail(DataOutputStream out, Throwable error) throws Exception {
        error.printStackTrace();
        Throwable cause = error;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        byte[] text = String.valueOf(cause).replace('\n', ' ').getBytes(StandardCharsets.UTF_8);
        out.writeInt(1 + text.length);
        out.writeByte(1);
        out.write(text);
        out.flush();
    }
}
