import type { Runnable } from "../lib/async/runnable.ts";
import type { Logger } from "../observability/log.ts";
import type { RedisClient } from "./client.ts";

/**
 * Messages between the processes of one installation. They are delivered at most once, so they only speed things up.
 */
export interface Channel extends Runnable {
  /** Publishes a message. Never rejects: a process that misses it detects the change by other means. */
  publish(text: string): Promise<void>;
}

export interface ChannelSettings {
  readonly redis: RedisClient;
  readonly name: string;
  readonly log: Logger;
  /** Called for messages of other processes. */
  readonly onMessage: (text: string) => void;
  /** Called when messages may have been missed. */
  readonly onGap: () => void;
  /** Identifies this process, which ignores its own messages. */
  readonly sender: string;
  /** Ping interval; a connection without an answer for three times as long is replaced. */
  readonly askEveryMs?: number;
}

const PUBLISH_TIMEOUT_MS = 1_000;
/** A subscription may be silent for hours: without a ping, a dead connection would not be detected. */
const ASK_EVERY_MS = 5_000;
const SEPARATOR = "\n";

export function createChannel(settings: ChannelSettings): Channel {
  const { redis, name, log, onMessage, onGap, sender, askEveryMs = ASK_EVERY_MS } = settings;
  const channel = redis.keys.channel(name);
  const subscriber = redis.open("messages", 3 * askEveryMs);
  let asking: NodeJS.Timeout | undefined;
  let isSubscribed = false;
  subscriber.on("message", (from: string, message: string) => {
    if (from !== channel) return;
    const at = message.indexOf(SEPARATOR);
    if (message.slice(0, at) !== sender) onMessage(message.slice(at + 1));
  });
  // Messages in the meantime are lost. If the connection breaks again, the next one subscribes again.
  subscriber.on("ready", () => {
    if (isSubscribed) subscriber.subscribe(channel).then(onGap, () => undefined);
  });
  return {
    name: `channel ${name}`,
    async start() {
      await subscriber.subscribe(channel);
      isSubscribed = true;
      // A failed connection is replaced and reported elsewhere.
      asking = setInterval(() => void subscriber.ping().catch(() => undefined), askEveryMs).unref();
    },
    stop() {
      clearInterval(asking);
      subscriber.disconnect();
    },
    async publish(text) {
      try {
        await redis.sendOne(
          { command: "publish", args: [channel, `${sender}${SEPARATOR}${text}`] },
          PUBLISH_TIMEOUT_MS,
        );
      } catch (error) {
        log.warn("a message could not be published; other replicas find the change by polling", {
          channel: name,
          error,
        });
      }
    },
  };
}
