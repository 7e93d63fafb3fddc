package cepbench;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The state of one sub-stream: its open windows, their answers so far, and the size of Flink's state. */
final class Substream {
    /** Bytes of a partial match: computation state with version and identifiers, its node and edge in the buffer. */
    static final long PARTIAL_BYTES = 400;
    /** Bytes of an event in a window, without columns: the object and its entry in the buffer. */
    static final long EVENT_BYTES = 160;

    final Map<Long, Long> keys = new HashMap<>();
    final TreeMap<Long, Cell> cells = new TreeMap<>();
    long low = 0, now = -1, earlier = -1;
    private int count = 0, first = 0;
    private List<Event> events = new ArrayList<>();

    /** The points of the events of a span, in detection only. */
    private final ArrayDeque<Long> live = new ArrayDeque<>();

    long partial = 0, copies = 0, bytes = 0;
    long peakPartial = 0, peakCopies = 0, peakBytes = 0;

    /** Numbers an event, and sets the time before its own. */
    void take(Event event, Spec spec) {
        event.substream = this;
        event.number = count++;
        event.point = spec.counts ? event.number : event.time;
        event.tied = event.time == now;
        if (!event.tied) {
            earlier = now;
            now = event.time;
        }
        event.earlier = earlier;
        if (spec.semantics == Spec.NEXT) {
            events.add(event);
        }
    }

    Event event(int number) {
        return events.get(number - first);
    }

    /** Drops the events before a time. */
    void forget(long start) {
        int dead = 0;
        while (dead < events.size() && events.get(dead).time < start) {
            dead++;
        }
        if (dead > 0) {
            events = new ArrayList<>(events.subList(dead, events.size()));
            first += dead;
        }
    }

    /** Counts an event of detection, and drops events that are too old to share a match with it. */
    void spans(long point, long within, int columns) {
        live.add(point);
        int more = 1;
        while (point - live.peek() >= within) {
            live.remove();
            more--;
        }
        changed(0, more, columns);
    }

    /** Drops the events of detection; returns their number. */
    long endSpans() {
        long ended = live.size();
        live.clear();
        return ended;
    }

    void changed(long morePartial, long moreCopies, int columns) {
        partial += morePartial;
        copies += moreCopies;
        bytes += morePartial * PARTIAL_BYTES + moreCopies * (EVENT_BYTES + 8L * columns);
        if (bytes > peakBytes) {
            peakBytes = bytes;
            peakPartial = partial;
            peakCopies = copies;
        }
    }

    /** Peak state since the last call: bytes, partial matches, events. */
    long[] peak() {
        long[] peak = {Math.max(peakBytes, bytes), peakPartial, peakCopies};
        if (peakBytes <= bytes) {
            peak[1] = partial;
            peak[2] = copies;
        }
        peakBytes = peakPartial = peakCopies = 0;
        return peak;
    }
}
