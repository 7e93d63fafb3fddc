package cepbench;

/**
 * An event in one window of a sub-stream; if `closes`, a marker that the window has ended. Columns are shared. `point`
 * is its time, or its number if spans count events.
 */
public class Event {
    Substream substream;
    long key, window, time, earlier, position, point;
    int kind, number;
    boolean tied, closes;
    long[] ints;
    double[] reals;
    boolean[] flags;

    /** A copy for another window. */
    Event in(long window, long key) {
        Event copy = new Event();
        copy.substream = substream;
        copy.time = time;
        copy.earlier = earlier;
        copy.position = position;
        copy.point = point;
        copy.kind = kind;
        copy.number = number;
        copy.tied = tied;
        copy.ints = ints;
        copy.reals = reals;
        copy.flags = flags;
        copy.window = window;
        copy.key = key;
        return copy;
    }

    static Event end(Substream substream, long window, long key) {
        Event event = new Event();
        event.substream = substream;
        event.window = window;
        event.key = key;
        event.closes = true;
        return event;
    }
}
