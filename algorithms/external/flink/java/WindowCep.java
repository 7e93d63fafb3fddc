package cepbench;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.NFAState;
import org.apache.flink.cep.nfa.compiler.NFACompiler;
import org.apache.flink.cep.operator.CepOperator;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.Collector;

/**
 * Flink's CEP operator, keyed by sub-stream and window, which drops a key when its window has ended. In detection the
 * only window is the whole sub-stream, and Flink itself drops what is older than a span.
 *
 * Flink keeps the state of a key forever, or until a pattern's own `within`, which is not a sliding window.
 */
final class WindowCep extends CepOperator<Event, Long, WindowCep.Match> {
    /** One match: events in stream order, and the positions to which they are bound. */
    static final class Match {
        Event[] events;
        int[] position;
    }

    private final int columns;
    private final boolean spans;
    private transient SpanClock clock;
    private transient ValueState<NFAState> states;
    private transient List<State> forgotten;

    WindowCep(TypeSerializer<Event> serializer, NFACompiler.NFAFactory<Event> factory, int columns, boolean spans) {
        super(serializer, true, factory, null, null, new Emit(), null);
        this.columns = columns;
        this.spans = spans;
    }

    @Override
    @SuppressWarnings("unchecked")
    public void open() throws Exception {
        super.open();
        clock = new SpanClock(super.getProcessingTimeService());
        states = (ValueState<NFAState>) field(CepOperator.class, this, "computationStates");
        Object buffer = field(CepOperator.class, this, "partialMatches");
        forgotten = new ArrayList<>();
        forgotten.add(states);
        forgotten.add((State) field(CepOperator.class, this, "elementQueueState"));
        for (String name : new String[] {"eventsBuffer", "eventsCount", "entries"}) {
            forgotten.add((State) field(buffer.getClass(), buffer, name));
        }
    }

    /** If matches are bounded by a span, the clock of the operator shows the point of the event. */
    @Override
    public ProcessingTimeService getProcessingTimeService() {
        return clock != null && spans ? clock : super.getProcessingTimeService();
    }

    /** Ignores Flink's timers, which use its own clock and would end spans too early. Events end spans. */
    @Override
    public void onProcessingTime(InternalTimer<Long, VoidNamespace> timer) throws Exception {
        if (!spans) {
            super.onProcessingTime(timer);
        }
    }

    private static Object field(Class<?> owner, Object of, String name) throws Exception {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    @Override
    public void processElement(StreamRecord<Event> element) throws Exception {
        Event event = element.getValue();
        long before = partial();
        if (event.closes) {
            for (State state : forgotten) {
                state.clear();
            }
            event.substream.changed(-before, 0, columns);
            return;
        }
        clock.now = event.point;
        super.processElement(element);
        event.substream.changed(partial() - before, 0, columns);
    }

    /** Number of partial matches of the key that hold at least one event. */
    private long partial() throws Exception {
        NFAState state = states.value();
        return state == null ? 0 : Math.max(0, state.getPartialMatches().size() - 1);
    }

    private static final class Emit extends PatternProcessFunction<Event, Match> {
        @Override
        public void processMatch(Map<String, List<Event>> found, Context context, Collector<Match> out) {
            Match match = new Match();
            int size = 0;
            for (List<Event> some : found.values()) {
                size += some.size();
            }
            match.events = new Event[size];
            match.position = new int[size];
            int length = 0;
            for (Map.Entry<String, List<Event>> one : found.entrySet()) {
                int position = Integer.parseInt(one.getKey().substring(1));
                for (Event event : one.getValue()) {
                    int i = length++;
                    while (i > 0 && match.events[i - 1].number > event.number) {
                        match.events[i] = match.events[i - 1];
                        match.position[i] = match.position[i - 1];
                        i--;
                    }
                    match.events[i] = event;
                    match.position[i] = position;
                }
            }
            out.collect(match);
        }
    }
}
