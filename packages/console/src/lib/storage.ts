import type { Status } from "@fairway/wire";
import * as z from "zod/mini";

/**
 * Every value that the console stores in the browser. Names without a prefix are shared with other consoles of the
 * family on the same origin, which determine their formats; ours begin with `fairway:`.
 */
interface Slot<T> {
  read(): T | undefined;
  write(value: T | undefined): void;
}

function slot<T>(
  area: () => Storage,
  name: string,
  parse: (text: string) => T | undefined,
  print: (value: T) => string,
): Slot<T> {
  return {
    read() {
      try {
        const text = area().getItem(name);
        return text === null ? undefined : parse(text);
      } catch {
        // A browser may deny storage, and a foreign script may have left anything in it: both mean "not set".
        return undefined;
      }
    },
    write(value) {
      try {
        if (value === undefined) area().removeItem(name);
        else area().setItem(name, print(value));
      } catch {
        // If the storage is denied or full, a preference is lost but the page works.
      }
    },
  };
}

const local = () => localStorage;

function word<const T extends string>(name: string, ...allowed: T[]): Slot<T> {
  return slot<T>(local, name, (text) => allowed.find((value) => value === text), String);
}

function json<S extends z.ZodMiniType>(name: string, schema: S): Slot<z.output<S>> {
  return slot<z.output<S>>(
    local,
    name,
    (text) => {
      const parsed = schema.safeParse(JSON.parse(text));
      return parsed.success ? parsed.data : undefined;
    },
    (value) => JSON.stringify(value),
  );
}

export const StoredUser = z.object({
  id: z.int(),
  username: z.string(),
  display_name: z.catch(z.string(), ""),
  role: z.int(),
  status: z.catch(z.int(), 1),
  group: z.catch(z.string(), ""),
});
export type StoredUser = z.output<typeof StoredUser>;

const Recent = z.object({ to: z.string(), label: z.string(), icon: z.string(), user: z.int() });
/** A page that the user opened from the palette. */
export type Recent = z.output<typeof Recent>;

export const PAGE_SIZES = [10, 20, 50, 100] as const;

/** Members of the status that other consoles read under their own names. */
const SHARED_MEMBERS = [
  "system_name",
  "logo",
  "footer_html",
  "quota_per_unit",
  "display_in_currency",
  "enable_drawing",
  "enable_task",
  "enable_data_export",
  "data_export_default_time",
  "default_collapse_sidebar",
  "mj_notify_enabled",
  "chat_link",
  "chat_link2",
] as const satisfies readonly (keyof Status)[];

/** Stores the state of the gateway where other consoles and chat pages of this origin expect it. */
export function shareStatus(status: Status): void {
  slot<Status>(local, "status", () => undefined, JSON.stringify).write(status);
  for (const name of SHARED_MEMBERS) slot<string>(local, name, String, String).write(String(status[name]));
}

export const stored = {
  user: json("user", StoredUser),
  themeMode: word("theme-mode", "dark", "light"),
  idSort: word("id-sort", "true", "false"),
  pageSize: slot<number>(local, "page-size", (text) => PAGE_SIZES.find((size) => String(size) === text), String),
  /** Usual models by channel type, for other consoles; this one reads them from the server. */
  channelModels: json("channel_models", z.record(z.string(), z.array(z.string()))),
  language: word("fairway:language", "en", "zh"),
  /** Invitation code of the link that the visitor followed. */
  invitation: slot<string>(local, "aff", String, String),
  sidebar: word("fairway:sidebar", "open", "collapsed"),
  density: word("fairway:density", "comfortable", "compact"),
  /** Whether the facets are open next to the log. */
  logFacets: word("fairway:log-facets", "open", "closed"),
  shortcuts: word("fairway:shortcuts", "on", "off"),
  recents: json("fairway:recents", z.array(Recent)),
  /** The release that was reloaded automatically because its code no longer existed, so that this happens only once. */
  reloaded: slot<string>(() => sessionStorage, "fairway:reloaded", String, String),
  /** The state that the Telegram sign-in of this tab must return. */
  telegramState: slot<string>(() => sessionStorage, "fairway:telegram", String, String),
  /** The closed announcement; a new text is shown again. */
  notice: slot<string>(local, "notice", String, String),
  /** Notices that the user of this browser closed permanently. */
  dismissed: json("fairway:dismissed", z.array(z.string())),
};
