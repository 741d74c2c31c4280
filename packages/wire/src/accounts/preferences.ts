// A user's preferences for the console. Members that are not declared here are stored unchanged.
import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";
import { endpoint } from "../core/endpoint.ts";

const columnIds = z.optional(z.array(textUpTo(40)).check(z.maxLength(60)));

/** Columns of a table, and the height of its rows. */
export const ListLayout = z.object({
  hidden: columnIds,
  /** Columns that are shown even if they do not fit. */
  shown: columnIds,
  order: columnIds,
  density: z.optional(z.enum(["comfortable", "compact"])),
});
export type ListLayout = z.output<typeof ListLayout>;

/** Filters, order and columns of a list, saved under a name. */
export const ListView = z.object({
  name: textUpTo(60).check(z.minLength(1)),
  /** Query of the list's address. */
  query: textUpTo(2_000),
  layout: z.optional(ListLayout),
});
export type ListView = z.output<typeof ListView>;

export const MAX_LIST_VIEWS = 20;

export const ListPreferences = z.object({
  layout: z.optional(ListLayout),
  views: z.optional(z.array(ListView).check(z.maxLength(MAX_LIST_VIEWS))),
});
export type ListPreferences = z.output<typeof ListPreferences>;

export const Preferences = z.looseObject({
  /** Preferences by list, such as `channel`. */
  lists: z.optional(z.record(textUpTo(40), ListPreferences)),
});
export type Preferences = z.output<typeof Preferences>;

export const selfPreferences = endpoint({
  name: "selfPreferences",
  method: "GET",
  path: "/api/user/self/prefs",
  access: "user",
  summary: "The caller's preferences, as they were stored.",
  data: Preferences,
});

export const selfPreferencesUpdate = endpoint({
  name: "selfPreferencesUpdate",
  method: "PUT",
  path: "/api/user/self/prefs",
  access: "user",
  summary:
    "Replaces the caller's preferences, 32 KiB at most; `lists` holds the columns and saved views of the console's lists.",
  body: Preferences,
  data: Preferences,
  fails: ["invalid_field"],
});
