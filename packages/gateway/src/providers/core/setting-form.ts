/** Allowed values of a member of a channel's `setting`: one of these texts, or any value of a kind. */
export type SettingForm = readonly string[] | "flag" | "text" | "texts" | "object" | "objects" | "address" | "paths";
