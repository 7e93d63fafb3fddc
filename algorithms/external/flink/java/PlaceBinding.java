package cepbench;

import org.apache.flink.cep.pattern.conditions.IterativeCondition;

/**
 * Whether an event can be bound to a place of a detection clause after the events of a partial match.
 *
 * Checks type, conditions on the event and conditions with all bound events; strictly increasing times in a SEQ and
 * within an operand. Events are looked up in Flink's shared buffer only if a condition or a repeated time stamp needs
 * it.
 */
final class PlaceBinding extends IterativeCondition<Event> {
    private final Spec.Flow flow;
    private final int place;
    private final boolean[] compared;

    PlaceBinding(Spec.Flow flow, int place) {
        this.flow = flow;
        this.place = place;
        compared = new boolean[place + 1];
        for (int before = 0; before <= place; before++) {
            for (int one : flow.places[before]) {
                for (int other : flow.places[place]) {
                    compared[before] |= flow.adjacent[one][other] != null;
                }
            }
        }
    }

    @Override
    public boolean filter(Event event, Context<Event> context) throws Exception {
        int operand = operand(flow, event, place);
        if (operand < 0) {
            return false;
        }
        for (int before = 0; before <= place; before++) {
            if (!compared[before] && !event.tied) {
                continue;
            }
            for (Event bound : context.getEventsForPattern(Patterns.name(before))) {
                int other = operand(flow, bound, before);
                if (bound.time >= event.time && (flow.ordered || other == operand)) {
                    return false;
                }
                Spec.Predicate[] conditions = flow.adjacent[other][operand];
                if (conditions != null && !Spec.all(conditions, bound, event)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Whether a match binds every operand: if several share a place, some can be missing. */
    static boolean isWhole(Spec.Flow flow, WindowCep.Match match) {
        long bound = 0;
        for (int i = 0; i < match.events.length; i++) {
            bound |= 1L << operand(flow, match.events[i], match.position[i]);
        }
        return Long.bitCount(bound) == flow.positions;
    }

    /** The operand of a place that an event is bound to, or -1; operands at the same place have different types. */
    static int operand(Spec.Flow flow, Event event, int place) {
        for (int one : flow.places[place]) {
            if (flow.fits(event, one)) {
                return one;
            }
        }
        return -1;
    }
}
