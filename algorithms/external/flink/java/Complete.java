package cepbench;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The second step of complete matches: of all matches of a window, those whose events are no proper subset of
 * another's.
 *
 * There is a set of matches per event, longer ones first; the intersection of the sets of a match's events has the
 * matches that contain it. O(m^2 l / 64) for m matches of length l, which is less than Flink takes to find them.
 */
final class Complete {
    /** Index of the first position, after window and length. */
    private static final int FIRST = 2;

    private Complete() {}

    /** The complete matches of a window; matches are in the format of `Answer`. */
    static List<long[]> among(List<long[]> matches) {
        List<long[]> sorted = new ArrayList<>(matches);
        sorted.sort((one, other) -> Integer.compare(other.length, one.length));
        Map<Long, BitSet> holders = new HashMap<>();
        for (int i = 0; i < sorted.size(); i++) {
            for (int at = FIRST; at < sorted.get(i).length; at++) {
                holders.computeIfAbsent(sorted.get(i)[at], x -> new BitSet()).set(i);
            }
        }
        List<long[]> complete = new ArrayList<>();
        for (int i = 0; i < sorted.size(); i++) {
            BitSet common = holders.get(sorted.get(i)[FIRST]).get(0, i);
            for (int at = FIRST + 1; at < sorted.get(i).length && !common.isEmpty(); at++) {
                common.and(holders.get(sorted.get(i)[at]));
            }
            if (common.isEmpty()) {
                complete.add(sorted.get(i));
            }
        }
        return complete;
    }
}
