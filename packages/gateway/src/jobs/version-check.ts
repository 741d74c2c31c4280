import { recordRawEvent } from "../events/record-event.ts";
import type { Clock } from "../lib/clock.ts";
import type { Outbound } from "../lib/net/outbound.ts";
import type { RawDatabase } from "../storage/engines/raw.ts";
import { paced, type ScheduledJob } from "./schedule.ts";

export interface VersionCheckDeps {
  readonly outbound: Pick<Outbound, "json">;
  /** Address of the feed; nothing is called while it is empty. */
  readonly feedUrl: () => string;
  /** Version of this program. */
  readonly version: string;
  readonly database: RawDatabase;
  readonly clock: Clock;
}

interface Release {
  readonly version: string;
  /** A page about it; "" if the feed names none. */
  readonly page: string;
}

/** A feed that was set or did not answer is asked at the next check. */
const LOOK_MS = 600_000;
const DAY_MINUTES = 1_440;
const MAX_PAGE = 500;
const VERSION = /^v?(?<numbers>\d{1,6}\.\d{1,6}\.\d{1,6})(?<preview>-[\w.-]{1,100})?(?:\+[\w.-]{1,100})?$/;

/** Asks the feed once a day, and records a version that is newer than this one, once for each version. */
export function versionCheckJob(deps: VersionCheckDeps): ScheduledJob {
  const { feedUrl, database, clock, version: current } = deps;
  const check: ScheduledJob["run"] = async (_signal, confirm) => {
    const release = readRelease(await deps.outbound.json({ method: "GET", url: feedUrl() }));
    if (!release || !isNewer(release.version, current)) return;
    const type = "version.available";
    const { version, page } = release;
    const event = {
      type,
      atMs: clock.now(),
      dedupKey: `${type}:${version}`,
      data: { version, current, page },
    } as const;
    await database.transaction(async (tx) => {
      await confirm(tx);
      await recordRawEvent(tx, database.kind, event);
    });
  };
  let asked = "";
  let daily = paced(clock, () => DAY_MINUTES, check);
  return {
    name: "version-check",
    everyMs: LOOK_MS,
    isLeaderOnly: true,
    async run(signal, confirm) {
      const url = feedUrl();
      if (url !== asked) daily = paced(clock, () => DAY_MINUTES, check);
      asked = url;
      if (url !== "") await daily(signal, confirm);
    },
  };
}

/**
 * Reads a release as Fairway's own feed (`version`, `url`) and GitHub (`tag_name`, `html_url`) describe it; undefined
 * for one that is not final.
 */
function readRelease(answer: Readonly<Record<string, unknown>> = {}): Release | undefined {
  const version = answer["version"] ?? answer["tag_name"];
  const match = VERSION.exec(typeof version === "string" ? version.trim() : "");
  if (!match) throw new Error("the answer of UpdateFeedUrl has no version: it needs `version` or `tag_name`");
  const { numbers = "", preview } = match.groups ?? {};
  const page = readPage(answer["url"] ?? answer["html_url"]);
  return preview === undefined ? { version: numbers, page } : undefined;
}

function readPage(value: unknown): string {
  return typeof value === "string" && value.length <= MAX_PAGE && /^https?:\/\//i.test(value) ? value : "";
}

/** Compares numbers in texts by their value, so that 0.10.0 comes after 0.9.0. */
const BY_NUMBERS = new Intl.Collator("en", { numeric: true });

function isNewer(version: string, than: string): boolean {
  return BY_NUMBERS.compare(version, than) > 0;
}
