import { NO_QUIET, type WebhookQuiet } from "@fairway/wire";

/** The part of a form that is about quiet hours. */
export interface QuietDraft {
  /** True: there are quiet hours. */
  readonly quiet: boolean;
  readonly zone: string;
  readonly from: string;
  readonly to: string;
  readonly weekdays: readonly number[];
}

type QuietProblems = Partial<Record<"quiet" | "weekdays", "zoneMissing" | "daysMissing">>;

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];

/** The zone is that of the reader where there are no quiet hours yet. */
export function toQuietDraft(quiet: WebhookQuiet | null, zone: string): QuietDraft {
  return quiet ? { quiet: true, ...quiet } : { quiet: false, zone, from: "22:00", to: "07:00", weekdays: EVERY_DAY };
}

export function toQuiet({ quiet, zone, from, to, weekdays }: QuietDraft): WebhookQuiet | typeof NO_QUIET {
  return quiet ? { zone: zone.trim(), from, to, weekdays: [...weekdays] } : NO_QUIET;
}

/** Checks the hours; problems are keys of this feature's texts. */
export function checkQuiet({ quiet, zone, weekdays }: QuietDraft): QuietProblems {
  if (!quiet) return {};
  return {
    ...(zone.trim() === "" && { quiet: "zoneMissing" as const }),
    ...(weekdays.length === 0 && { weekdays: "daysMissing" as const }),
  };
}
