package cepbench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The matches of one window: their aggregates, or their events. Matches that Flink repeats count once. */
final class Cell {
    final long[] ring, least;
    final double[] floats, real;
    long over = 0, copies = 0;
    List<long[]> matches = new ArrayList<>();
    private final Set<Bound> seen = new HashSet<>();

    Cell(Spec spec) {
        Spec.Flow flow = spec.flows.get(0);
        ring = new long[flow.ring.length];
        floats = new double[flow.ring.length];
        real = new double[flow.real.length];
        least = new long[flow.least.length];
        Arrays.fill(least, Long.MAX_VALUE);
    }

    /** Whether a match is reported for the first time; it is given by events and positions, alternating. */
    boolean isFirst(long[] bound) {
        return seen.add(new Bound(bound));
    }

    /** Forgets the reported matches: a match is repeated only together with its last event. */
    void forget() {
        seen.clear();
    }

    private static final class Bound {
        private final long[] items;

        Bound(long[] items) {
            this.items = items;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Bound && Arrays.equals(items, ((Bound) other).items);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(items);
        }
    }

    /** Whether there is a match; a count that overflowed may be zero. */
    boolean isMatched(Spec spec) {
        return spec.floats ? floats[0] != 0 : ring[0] != 0 || (over & 1) != 0;
    }

    /** Adds one match: events[i] is bound to position[i]. */
    void add(Spec spec, Spec.Flow flow, Event[] events, int[] position) {
        for (int c = 0; c < flow.ring.length; c++) {
            if (c == 0) {
                addRing(spec, 0, 1);
                continue;
            }
            for (int i = 0; i < events.length; i++) {
                if (flow.ring[c].bound[position[i]]) {
                    addRing(spec, c, flow.ring[c].column < 0 ? 1 : events[i].ints[flow.ring[c].column]);
                }
            }
        }
        for (int c = 0; c < flow.real.length; c++) {
            for (int i = 0; i < events.length; i++) {
                if (flow.real[c].bound[position[i]]) {
                    real[c] += events[i].reals[flow.real[c].column];
                }
            }
        }
        for (int c = 0; c < flow.least.length; c++) {
            for (int i = 0; i < events.length; i++) {
                if (flow.least[c].bound[position[i]]) {
                    least[c] = Math.min(least[c], events[i].ints[flow.least[c].column]);
                }
            }
        }
    }

    private void addRing(Spec spec, int c, long more) {
        if (spec.floats) {
            floats[c] += more < 0 ? more + 0x1p64 : more;
            return;
        }
        ring[c] += more;
        if (Long.compareUnsigned(ring[c], more) < 0) {
            over |= 1L << c;
        }
    }
}
