package cepbench;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** One query as `specification.py` writes it: lines of words; the first word names the kind of the line. */
final class Spec implements Serializable {
    static final int ANY = 0, NEXT = 1, CONTIGUOUS = 2, STRICT = 3, SPAN = 4;

    /**
     * ANY; NEXT and CONTIGUOUS emulated by conditions; STRICT is Flink's own strict contiguity; SPAN is detection
     * without windows: each match lies within `within` of its first event, in time or, if it `counts`, in events.
     */
    int semantics;

    long within, slide;
    int ints, reals, flags;
    boolean floats, matches, complete, counts;
    final List<Flow> flows = new ArrayList<>();

    /**
     * One Flink pattern: a whole query, one of its flattened sequences, or one order of the operands of a detection
     * clause. In the latter, positions are places, each with the operands that it can bind, `adjacent` is by operand,
     * and `binding` has the alternatives of operands, whose operands are `operands`. `local` has, for each position or
     * alternative, the condition that its events pass, or -1.
     */
    static final class Flow implements Serializable {
        String[] pattern;
        boolean repeats;
        int positions;
        int[][] binding = new int[0][];
        int[] local, operands;
        Predicate[][][] adjacent;
        int[][] sources, targets;
        boolean ordered;
        int[][] places = new int[0][];
        Channel[] ring, real, least;

        /** Whether an event may be bound to a position, or to an operand of a detection clause, by itself. */
        boolean fits(Event event, int position) {
            for (int candidate : binding[event.kind]) {
                if ((operands == null ? candidate : operands[candidate]) == position && passes(event, candidate)) {
                    return true;
                }
            }
            return false;
        }

        /** Whether an event may be bound to any position, or operand, by itself. */
        boolean fits(Event event) {
            for (int candidate : binding[event.kind]) {
                if (passes(event, candidate)) {
                    return true;
                }
            }
            return false;
        }

        private boolean passes(Event event, int candidate) {
            return local[candidate] < 0 || event.flags[local[candidate]];
        }
    }

    /** Number of columns with as many bytes as those of an event; eight conditions take the bytes of a column. */
    int columns() {
        return ints + reals + (flags + 7) / 8;
    }

    /** A channel of the aggregates: a column, or -1 for the weight 1, of the events at some positions. */
    static final class Channel implements Serializable {
        final int column;
        final boolean[] bound;

        Channel(int column, boolean[] bound) {
            this.column = column;
            this.bound = bound;
        }
    }

    /**
     * A comparison of columns of two events: of floats with factors and offsets, or of integers, where `intOffset` is
     * added to the right side exactly.
     */
    static final class Predicate implements Serializable {
        final boolean real;
        final int op, leftColumn, rightColumn;
        final double leftFactor, leftOffset, rightFactor, rightOffset;
        final long intOffset;

        Predicate(String[] word, int at) {
            real = word[at].equals("1");
            op = Integer.parseInt(word[at + 1]);
            leftColumn = Integer.parseInt(word[at + 2]);
            leftFactor = number(word[at + 3]);
            leftOffset = number(word[at + 4]);
            rightColumn = Integer.parseInt(word[at + 5]);
            rightFactor = number(word[at + 6]);
            rightOffset = number(word[at + 7]);
            intOffset = Long.parseLong(word[at + 8]);
        }

        private static double number(String bits) {
            return Double.longBitsToDouble(Long.parseLong(bits));
        }

        boolean holds(Event left, Event right) {
            if (real) {
                double a = leftFactor * left.reals[leftColumn] + leftOffset;
                double b = rightFactor * right.reals[rightColumn] + rightOffset;
                switch (op) {
                    case 0: return a < b;
                    case 1: return a <= b;
                    case 2: return a > b;
                    case 3: return a >= b;
                    case 4: return a == b;
                    default: return a != b;
                }
            }
            long x = left.ints[leftColumn];
            long z = right.ints[rightColumn];
            long y = z + intOffset;
            if (((z ^ y) & (intOffset ^ y)) < 0) {  // y is larger, or smaller, than every integer of 64 bits
                x = 0;
                y = intOffset;
            }
            switch (op) {
                case 0: return x < y;
                case 1: return x <= y;
                case 2: return x > y;
                case 3: return x >= y;
                case 4: return x == y;
                default: return x != y;
            }
        }
    }

    static boolean all(Predicate[] predicates, Event left, Event right) {
        for (Predicate predicate : predicates) {
            if (!predicate.holds(left, right)) {
                return false;
            }
        }
        return true;
    }

    static Spec parse(String text) {
        Spec spec = new Spec();
        Flow flow = null;
        for (String line : text.split("\n")) {
            String[] word = line.trim().split(" ");
            switch (word[0]) {
                case "query":
                    spec.semantics = whole(word[1]);
                    spec.within = Long.parseLong(word[2]);
                    spec.slide = Long.parseLong(word[3]);
                    spec.ints = whole(word[4]);
                    spec.reals = whole(word[5]);
                    spec.flags = whole(word[6]);
                    spec.floats = word[7].equals("1");
                    spec.matches = !word[8].equals("0");
                    spec.complete = word[8].equals("2");
                    spec.counts = word[9].equals("1");
                    break;
                case "flow":
                    flow = flow(word);
                    spec.flows.add(flow);
                    break;
                case "clause":
                    flow.ordered = word[1].equals("1");
                    break;
                case "place":
                    flow.places = java.util.Arrays.copyOf(flow.places, flow.places.length + 1);
                    flow.places[flow.places.length - 1] = wholes(word, 1);
                    break;
                case "types":
                    flow.binding = new int[whole(word[1])][0];
                    break;
                case "type":
                    flow.binding[whole(word[1])] = wholes(word, 2);
                    break;
                case "local":
                    flow.local = wholes(word, 1);
                    break;
                case "operands":
                    flow.operands = wholes(word, 1);
                    break;
                case "step":
                    int source = whole(word[1]), target = whole(word[2]);
                    flow.adjacent[source][target] = new Predicate[0];
                    flow.targets[source] = with(flow.targets[source], target);
                    flow.sources[target] = with(flow.sources[target], source);
                    break;
                case "adjacent":
                    Predicate[][] row = flow.adjacent[whole(word[1])];
                    row[whole(word[2])] = with(row[whole(word[2])], word, 3);
                    break;
                case "ring":
                    flow.ring = with(flow.ring, channel(word, flow.positions));
                    break;
                case "real":
                    flow.real = with(flow.real, channel(word, flow.positions));
                    break;
                case "least":
                    flow.least = with(flow.least, channel(word, flow.positions));
                    break;
                default:
                    throw new IllegalArgumentException("unknown line: " + line);
            }
        }
        return spec;
    }

    private static Flow flow(String[] word) {
        Flow flow = new Flow();
        flow.positions = whole(word[1]);
        flow.repeats = word[2].equals("1");
        flow.pattern = java.util.Arrays.copyOfRange(word, 3, word.length);
        flow.adjacent = new Predicate[flow.positions][flow.positions][];
        flow.sources = new int[flow.positions][0];
        flow.targets = new int[flow.positions][0];
        flow.ring = flow.real = flow.least = new Channel[0];
        return flow;
    }

    private static Channel channel(String[] word, int positions) {
        boolean[] bound = new boolean[positions];
        for (int p : wholes(word, 2)) {
            bound[p] = true;
        }
        return new Channel(whole(word[1]), bound);
    }

    private static int whole(String word) {
        return Integer.parseInt(word);
    }

    private static int[] wholes(String[] word, int from) {
        int[] found = new int[word.length - from];
        for (int i = 0; i < found.length; i++) {
            found[i] = whole(word[from + i]);
        }
        return found;
    }

    private static int[] with(int[] some, int more) {
        int[] all = java.util.Arrays.copyOf(some, some.length + 1);
        all[some.length] = more;
        return all;
    }

    private static Channel[] with(Channel[] some, Channel more) {
        Channel[] all = java.util.Arrays.copyOf(some, some.length + 1);
        all[some.length] = more;
        return all;
    }

    private static Predicate[] with(Predicate[] some, String[] word, int at) {
        Predicate[] all = java.util.Arrays.copyOf(some, some.length + 1);
        all[some.length] = new Predicate(word, at);
        return all;
    }
}
