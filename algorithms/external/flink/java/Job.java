package cepbench;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.cep.nfa.compiler.NFACompiler;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamUtils;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.util.Collector;

/**
 * The Flink job of one query: source, copies of events for their windows, a CEP operator per flow, aggregation.
 *
 * All are chained into one task, so that all effects of an event are complete when the source has emitted it.
 */
final class Job {
    private static final Map<Integer, Job> JOBS = new ConcurrentHashMap<>();
    private static int next = 0;

    final int number;
    final Spec spec;
    private final LinkedBlockingQueue<Call> calls = new LinkedBlockingQueue<>();
    private final Map<Long, Substream> substreams = new HashMap<>();
    private MiniCluster cluster;
    private JobID id;
    private long keys = 0, found = 0, repeated = 0;

    private static final class Call {
        final ByteBuffer request;
        final CompletableFuture<ByteBuffer> answer = new CompletableFuture<>();

        Call(ByteBuffer request) {
            this.request = request;
        }
    }

    Job(Spec spec) {
        this.spec = spec;
        this.number = next++;
        JOBS.put(number, this);
    }

    /** Starts the job, which runs until it is called with null. */
    void start(MiniCluster cluster) throws Exception {
        this.cluster = cluster;
        JobGraph graph = graph();
        id = graph.getJobID();
        cluster.submitJob(graph).get();
    }

    /** Passes a request to the job's own thread and waits for its answer; null ends the job. */
    ByteBuffer call(ByteBuffer request) throws Exception {
        Call call = new Call(request);
        calls.add(call);
        while (true) {
            try {
                return call.answer.get(1, TimeUnit.SECONDS);
            } catch (TimeoutException waiting) {
                if (cluster.getJobStatus(id).get().isGloballyTerminalState() && !call.answer.isDone()) {
                    throw new IllegalStateException("a job of Flink ended: " + cluster.requestJobResult(id).get());
                }
            }
        }
    }

    /** The graph of the job, which has a single vertex. */
    private JobGraph graph() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(new Configuration());
        env.setParallelism(1);
        env.setMaxParallelism(1);
        env.getConfig().enableObjectReuse();
        TypeInformation<Event> type = TypeInformation.of(Event.class);
        DataStream<Event> copies =
            env.addSource(new Source(number), "batches", type).flatMap(new Copies(number)).returns(type);
        for (int f = 0; f < spec.flows.size(); f++) {
            Spec.Flow flow = spec.flows.get(f);
            WindowCep operator = new WindowCep(
                type.createSerializer(env.getConfig().getSerializerConfig()),
                NFACompiler.compileFactory(Patterns.of(flow, spec), false),
                spec.columns(),
                spec.semantics == Spec.SPAN);
            DataStreamUtils.reinterpretAsKeyedStream(copies, event -> event.key, Types.LONG)
                .transform("cep", TypeInformation.of(WindowCep.Match.class), operator)
                .flatMap(new Collect(number, f)).returns(Types.LONG);
        }
        JobGraph graph = env.getStreamGraph().getJobGraph();
        if (graph.getNumberOfVertices() != 1) {
            throw new IllegalStateException("the job is not one chain: " + java.util.Arrays.toString(graph.getVerticesAsArray()));
        }
        return graph;
    }

    /** Takes calls and emits their events. */
    private static final class Source implements SourceFunction<Event> {
        private final int job;
        private volatile boolean running = true;

        Source(int job) {
            this.job = job;
        }

        @Override
        public void run(SourceContext<Event> context) throws Exception {
            Job own = JOBS.get(job);
            while (running) {
                Call call = own.calls.take();
                try {
                    if (call.request == null) {
                        running = false;
                        JOBS.remove(job);
                    }
                    call.answer.complete(call.request == null ? null : own.take(call.request, context));
                } catch (Throwable error) {
                    call.answer.completeExceptionally(error);
                    throw error;
                }
            }
        }

        @Override
        public void cancel() {
            running = false;
        }
    }

    /** A batch of a sub-stream (see `engine.py`), and the rows of its windows before `low`. */
    private ByteBuffer take(ByteBuffer in, SourceFunction.SourceContext<Event> out) {
        byte what = in.get();
        long name = in.getLong();
        if (what == 'D') {
            Substream dropped = substreams.remove(name);
            if (dropped != null) {
                close(dropped, Long.MAX_VALUE, out::collect);
            }
            return Answer.empty();
        }
        Substream substream = substreams.computeIfAbsent(name, x -> new Substream());
        if (what == 'S') {
            return Answer.longs(substream.peak());
        }
        long low = in.getLong(), from = in.getLong();
        substream.low = Math.max(substream.low, from);
        int n = in.getInt();
        Event[] events = new Event[n];
        for (int i = 0; i < n; i++) {
            events[i] = new Event();
            events[i].ints = new long[spec.ints];
            events[i].reals = new double[spec.reals];
            events[i].flags = new boolean[spec.flags];
        }
        for (Event event : events) event.time = in.getLong();
        for (Event event : events) event.position = in.getLong();
        for (Event event : events) event.kind = (int) in.getLong();
        for (int c = 0; c < spec.ints; c++) for (Event event : events) event.ints[c] = in.getLong();
        for (int c = 0; c < spec.reals; c++) for (Event event : events) event.reals[c] = in.getDouble();
        for (int c = 0; c < spec.flags; c++) for (Event event : events) event.flags[c] = in.get() != 0;
        for (Event event : events) {
            substream.take(event, spec);
            out.collect(event);
        }
        close(substream, low, out::collect);
        Map<Long, Cell> decided = spec.semantics == Spec.SPAN ? substream.cells : substream.cells.headMap(low);
        if (spec.complete) {
            decided.values().forEach(cell -> cell.matches = Complete.among(cell.matches));
        }
        ByteBuffer answer = Answer.rows(spec, decided, found, repeated);
        found = repeated = 0;
        decided.clear();
        return answer;
    }

    /** Ends the windows before `low` in Flink's state. */
    private void close(Substream substream, long low, Consumer<Event> out) {
        if (low <= substream.low) {
            return;
        }
        Long[] ended = substream.keys.keySet().stream().filter(window -> window < low).toArray(Long[]::new);
        for (long window : ended) {
            out.accept(Event.end(substream, window, substream.keys.remove(window)));
            long copies = spec.semantics == Spec.SPAN ? substream.endSpans() : substream.cells.get(window).copies;
            substream.changed(0, -copies, spec.columns());
        }
        substream.low = low;
        if (low != Long.MAX_VALUE) {
            substream.forget(low * spec.slide);
        }
    }

    /** Copies an event into its windows, after ending earlier windows. */
    private static final class Copies implements FlatMapFunction<Event, Event> {
        private final int job;

        Copies(int job) {
            this.job = job;
        }

        @Override
        public void flatMap(Event event, Collector<Event> out) {
            if (event.closes) {
                out.collect(event);
                return;
            }
            Job own = JOBS.get(job);
            Spec spec = own.spec;
            Substream substream = event.substream;
            if (spec.semantics == Spec.SPAN) {
                if (own.isBound(event)) {
                    substream.spans(event.point, spec.within, spec.columns());
                    substream.cells.computeIfAbsent(0L, x -> new Cell(spec)).forget();
                    out.collect(event.in(0, substream.keys.computeIfAbsent(0L, x -> own.keys++)));
                }
                return;
            }
            long first = Math.max(0, Math.floorDiv(event.time - spec.within, spec.slide) + 1);
            long last = Math.floorDiv(event.time, spec.slide);
            own.close(substream, first, out::collect);
            if (spec.semantics != Spec.STRICT && !own.isBound(event)) {
                return;
            }
            for (long window = Math.max(first, substream.low); window <= last; window++) {
                long key = substream.keys.computeIfAbsent(window, x -> own.keys++);
                substream.cells.computeIfAbsent(window, x -> new Cell(spec)).copies++;
                substream.changed(0, 1, spec.columns());
                out.collect(event.in(window, key));
            }
        }
    }

    /** Whether a match may bind the event; the CEP operator does not need other events. */
    private boolean isBound(Event event) {
        for (Spec.Flow flow : spec.flows) {
            if (flow.fits(event)) {
                return true;
            }
        }
        return false;
    }

    /** The second step: aggregates each match. */
    private static final class Collect implements FlatMapFunction<WindowCep.Match, Long> {
        private final int job, flow;

        Collect(int job, int flow) {
            this.job = job;
            this.flow = flow;
        }

        @Override
        public void flatMap(WindowCep.Match match, Collector<Long> out) {
            Job own = JOBS.get(job);
            Spec.Flow flow = own.spec.flows.get(this.flow);
            Event one = match.events[0];
            Cell cell = one.substream.cells.get(one.window);
            if (own.spec.semantics == Spec.SPAN && !PlaceBinding.isWhole(flow, match)) {
                return;
            }
            own.found++;
            if (flow.repeats && !cell.isFirst(own.spec.semantics == Spec.SPAN ? numbers(match) : bound(match))) {
                own.repeated++;
                return;
            }
            cell.add(own.spec, flow, match.events, match.position);
            if (own.spec.semantics == Spec.SPAN) {
                Event last = match.events[match.events.length - 1];
                cell.matches.add(positions(match, last.point, one.time, last.time));
            } else if (own.spec.matches) {
                cell.matches.add(positions(match, one.window));
            }
        }

        /** A match in the format of `Answer`: some numbers, the number of positions, and the positions. */
        private static long[] positions(WindowCep.Match match, long... head) {
            int size = match.events.length;
            long[] row = java.util.Arrays.copyOf(head, head.length + 1 + size);
            row[head.length] = size;
            for (int i = 0; i < size; i++) {
                row[head.length + 1 + i] = match.events[i].position;
            }
            return row;
        }

        private static long[] numbers(WindowCep.Match match) {
            long[] numbers = new long[match.events.length];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = match.events[i].number;
            }
            return numbers;
        }

        private static long[] bound(WindowCep.Match match) {
            long[] bound = new long[2 * match.events.length];
            for (int i = 0; i < match.events.length; i++) {
                bound[2 * i] = match.events[i].number;
                bound[2 * i + 1] = match.position[i];
            }
            return bound;
        }
    }
}
