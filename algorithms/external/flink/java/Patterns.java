package cepbench;

import java.time.Duration;

import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;

/** Flink's pattern of a flow. Words in prefix order: E (position), S (number of parts), L (loop), O (optional part). */
final class Patterns {
    private final Spec.Flow flow;
    private final int semantics;
    private int at = 0;

    private Patterns(Spec.Flow flow, int semantics) {
        this.flow = flow;
        this.semantics = semantics;
    }

    static String name(int position) {
        return "p" + position;
    }

    /** The pattern of a flow; Flink's own bound on the span of a match is strict, and so is `within`. */
    static Pattern<Event, Event> of(Spec.Flow flow, Spec spec) {
        Pattern<Event, Event> pattern = new Patterns(flow, spec.semantics).append(null);
        return spec.semantics == Spec.SPAN ? pattern.within(Duration.ofMillis(spec.within)) : pattern;
    }

    /** Appends the pattern of the next words to `before`. */
    private Pattern<Event, Event> append(Pattern<Event, Event> before) {
        String word = flow.pattern[at++];
        switch (word.charAt(0)) {
            case 'E':
                return event(before, Integer.parseInt(word.substring(1)));
            case 'S':
                Pattern<Event, Event> whole = before;
                for (int parts = Integer.parseInt(word.substring(1)); parts > 0; parts--) {
                    whole = append(whole);
                }
                return whole;
            default:
                boolean single = flow.pattern[flow.pattern[at].equals("L") ? at + 1 : at].charAt(0) == 'E';
                Pattern<Event, Event> part = single ? append(before) : group(before, append(null));
                return word.equals("L") ? loop(part) : part.optional();
        }
    }

    private Pattern<Event, Event> event(Pattern<Event, Event> before, int position) {
        Pattern<Event, Event> pattern;
        if (before == null) {
            pattern = Pattern.begin(name(position), AfterMatchSkipStrategy.noSkip());
        } else if (semantics == Spec.STRICT) {
            pattern = before.next(name(position));
        } else {
            pattern = before.followedByAny(name(position));
        }
        return pattern.where(
            semantics == Spec.SPAN ? new PlaceBinding(flow, position) : new Binding(flow, position, semantics));
    }

    private Pattern<Event, Event> group(Pattern<Event, Event> before, Pattern<Event, Event> inner) {
        if (before == null) {
            return Pattern.begin(inner, AfterMatchSkipStrategy.noSkip());
        }
        return semantics == Spec.STRICT ? before.next(inner) : before.followedByAny(inner);
    }

    private Pattern<Event, Event> loop(Pattern<Event, Event> pattern) {
        return semantics == Spec.STRICT ? pattern.oneOrMore().consecutive() : pattern.oneOrMore().allowCombinations();
    }
}
