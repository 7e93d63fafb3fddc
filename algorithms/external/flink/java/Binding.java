package cepbench;

import org.apache.flink.cep.pattern.conditions.IterativeCondition;

/**
 * Whether an event can be bound to a position after the events of a partial match.
 *
 * Checks type, conditions on the event, adjacent predicates with the last event, strictly increasing times, and the
 * conditions of next and contiguous. The last event is looked up in Flink's shared buffer only if one of these needs
 * it.
 */
final class Binding extends IterativeCondition<Event> {
    private final Spec.Flow flow;
    private final int position, semantics;
    private final boolean compares;

    Binding(Spec.Flow flow, int position, int semantics) {
        this.flow = flow;
        this.position = position;
        this.semantics = semantics;
        boolean any = false;
        for (int source : flow.sources[position]) {
            any |= flow.adjacent[source][position].length > 0;
        }
        compares = any;
    }

    @Override
    public boolean filter(Event event, Context<Event> context) throws Exception {
        if (!flow.fits(event, position)) {
            return false;
        }
        boolean emulated = semantics == Spec.NEXT || semantics == Spec.CONTIGUOUS;
        if (!event.tied && !compares && !emulated) {
            return true;
        }
        Event last = null;
        int source = -1;
        for (int p : flow.sources[position]) {
            for (Event bound : context.getEventsForPattern(Patterns.name(p))) {
                if (last == null || bound.number > last.number) {
                    last = bound;
                    source = p;
                }
            }
        }
        if (last == null) {
            return true;
        }
        if (last.time >= event.time || !Spec.all(flow.adjacent[source][position], last, event)) {
            return false;
        }
        if (semantics == Spec.CONTIGUOUS) {
            return event.earlier == last.time;
        }
        return semantics != Spec.NEXT || !anotherIsNext(event, last, source);
    }

    /** Whether an event strictly between the two could follow the last one. */
    private boolean anotherIsNext(Event event, Event last, int source) {
        for (int n = last.number + 1; n < event.number; n++) {
            Event between = event.substream.event(n);
            if (between.time <= last.time) {
                continue;
            }
            if (between.time >= event.time) {
                return false;
            }
            for (int p : flow.targets[source]) {
                if (flow.fits(between, p) && Spec.all(flow.adjacent[source][p], last, between)) {
                    return true;
                }
            }
        }
        return false;
    }
}
