package cepbench;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;

/** Answers: numbers of eight bytes, little-endian. */
final class Answer {
    private Answer() {}

    static ByteBuffer empty() {
        return longs(new long[0]);
    }

    static ByteBuffer longs(long[] numbers) {
        ByteBuffer out = buffer(numbers.length);
        for (long number : numbers) {
            out.putLong(number);
        }
        return out.flip();
    }

    private static ByteBuffer buffer(long numbers) {
        return ByteBuffer.allocate(Math.toIntExact(8 * numbers)).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Windows with matches: number of rows, of matches found and repeated; then for each row the window and aggregates,
     * or for each match the window, length and positions. In detection, the last event's point and the times of the
     * first and the last event replace the window.
     */
    static ByteBuffer rows(Spec spec, Map<Long, Cell> windows, long found, long repeated) {
        long rows = 0, numbers = 3;
        for (Cell cell : windows.values()) {
            if (spec.matches) {
                rows += cell.matches.size();
                for (long[] match : cell.matches) {
                    numbers += match.length;
                }
            } else if (cell.isMatched(spec)) {
                rows++;
                numbers += 2 + cell.ring.length + cell.real.length + cell.least.length;
            }
        }
        ByteBuffer out = buffer(numbers);
        out.putLong(rows).putLong(found).putLong(repeated);
        for (Map.Entry<Long, Cell> entry : windows.entrySet()) {
            Cell cell = entry.getValue();
            if (spec.matches) {
                for (long[] match : cell.matches) {
                    for (long number : match) {
                        out.putLong(number);
                    }
                }
            } else if (cell.isMatched(spec)) {
                out.putLong(entry.getKey()).putLong(cell.over);
                for (int c = 0; c < cell.ring.length; c++) {
                    out.putLong(spec.floats ? Double.doubleToRawLongBits(cell.floats[c]) : cell.ring[c]);
                }
                for (double sum : cell.real) {
                    out.putLong(Double.doubleToRawLongBits(sum));
                }
                for (long least : cell.least) {
                    out.putLong(least);
                }
            }
        }
        return out.flip();
    }
}
