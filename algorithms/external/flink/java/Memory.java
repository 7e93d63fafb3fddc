package cepbench;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

import com.sun.management.GarbageCollectionNotificationInfo;

/** The peak memory of the process. Live bytes on the heap are read after each garbage collection. */
final class Memory {
    private final Set<String> pools = new HashSet<>();
    private final long base;
    private volatile long left = 0;

    Memory() {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getType() == MemoryType.HEAP) {
                pools.add(pool.getName());
            }
        }
        System.gc();
        base = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        left = base;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) collector).addNotificationListener((notice, none) -> collected(notice), null, null);
        }
    }

    private void collected(Notification notice) {
        if (notice.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            Map<String, MemoryUsage> after =
                GarbageCollectionNotificationInfo.from((CompositeData) notice.getUserData()).getGcInfo().getMemoryUsageAfterGc();
            left = Math.max(left, after.keySet().stream().filter(pools::contains).mapToLong(x -> after.get(x).getUsed()).sum());
        }
    }

    /**
     * Bytes: peak of the heap, including garbage; peak of resident memory; peak of the heap after a garbage collection,
     * and its value before any job.
     */
    long[] peak() throws Exception {
        long heap = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pools.contains(pool.getName())) {
                heap += pool.getPeakUsage().getUsed();
            }
        }
        long resident = 0;
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmHWM")) {
                resident = 1024 * Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return new long[] {heap, resident, left, base};
    }
}
