package cepbench;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;

import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.clock.Clock;

/** A clock that shows the time, or the number, of the current event; `within` uses it to bound a match. */
final class SpanClock implements ProcessingTimeService {
    private final ProcessingTimeService timers;
    long now = 0;

    SpanClock(ProcessingTimeService timers) {
        this.timers = timers;
    }

    @Override
    public long getCurrentProcessingTime() {
        return now;
    }

    @Override
    public Clock getClock() {
        return timers.getClock();
    }

    @Override
    public ScheduledFuture<?> registerTimer(long timestamp, ProcessingTimeCallback target) {
        return timers.registerTimer(timestamp, target);
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(ProcessingTimeCallback callback, long delay, long period) {
        return timers.scheduleAtFixedRate(callback, delay, period);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(ProcessingTimeCallback callback, long delay, long period) {
        return timers.scheduleWithFixedDelay(callback, delay, period);
    }

    @Override
    public CompletableFuture<Void> quiesce() {
        return timers.quiesce();
    }
}
