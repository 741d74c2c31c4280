/** Allowed values of a member of a channel's `setting`: one of these texts, or any value of a kind; a count is at least 1. */
export type SettingForm =
  | readonly string[]
  | "flag"
  | "count"
  | "text"
  | "texts"
  | "object"
  | "objects"
  | "address"
  | "paths";
