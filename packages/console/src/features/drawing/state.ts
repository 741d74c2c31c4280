import type { Drawing } from "@fairway/wire";
import type { MarkKind } from "../../ui/display/mark.tsx";

export const ACTIONS = {
  IMAGINE: "imagine",
  UPSCALE: "upscale",
  VARIATION: "variation",
  HIGH_VARIATION: "highVariation",
  LOW_VARIATION: "lowVariation",
  PAN: "pan",
  DESCRIBE: "describe",
  BLEND: "blend",
  UPLOAD: "upload",
  SHORTEN: "shorten",
  REROLL: "reroll",
  INPAINT: "inpaint",
  ZOOM: "zoom",
  CUSTOM_ZOOM: "customZoom",
  MODAL: "modal",
  SWAP_FACE: "swapFace",
} as const;

interface State<T extends string> {
  readonly mark: MarkKind;
  readonly text: T;
}

type StatusText = "success" | "notStarted" | "queued" | "inProgress" | "failed" | "awaitsWindow" | "unknown";

const STATUSES: Readonly<Record<string, State<StatusText>>> = {
  SUCCESS: { mark: "go", text: "success" },
  NOT_START: { mark: "parked", text: "notStarted" },
  SUBMITTED: { mark: "caution", text: "queued" },
  IN_PROGRESS: { mark: "underway", text: "inProgress" },
  FAILURE: { mark: "stop", text: "failed" },
  MODAL: { mark: "caution", text: "awaitsWindow" },
};

export function findStatus(row: Drawing): State<StatusText> {
  return STATUSES[row.status] ?? { mark: "unknown", text: "unknown" };
}

type ResultText = "resultSubmitted" | "resultWaiting" | "resultRepeat" | "resultNone" | "unknown";

const RESULTS: Readonly<Record<number, State<ResultText>>> = {
  0: { mark: "parked", text: "resultNone" },
  1: { mark: "go", text: "resultSubmitted" },
  21: { mark: "caution", text: "resultWaiting" },
  22: { mark: "caution", text: "resultRepeat" },
};

/** Returns the upstream's answer to the submission of the drawing. */
export function findResult(row: Drawing): State<ResultText> {
  return RESULTS[row.code] ?? { mark: "unknown", text: "unknown" };
}

export function isUnderWay(row: Drawing): boolean {
  return ["NOT_START", "SUBMITTED", "IN_PROGRESS"].includes(row.status);
}

/** Returns the seconds from submission to the end, or to now; 0 if it was never submitted. */
export function calculateDuration(row: Drawing, now: number): number {
  if (row.submit_time <= 0) return 0;
  return Math.max(0, (row.finish_time > 0 ? row.finish_time : now * 1_000) - row.submit_time) / 1_000;
}

/**
 * Returns the address from which the browser loads the image. Images of this gateway are loaded from the console's own
 * address: clients may use another one, and the page may show nothing that came unencrypted.
 */
export function imageSource(url: string, serverAddress: string): string {
  const own = URL.parse(url);
  if (!own?.pathname.startsWith("/mj/image/")) return url;
  const isOwn =
    own.origin === URL.parse(serverAddress)?.origin || /^(localhost|127\.\d+\.\d+\.\d+)$/.test(own.hostname);
  return isOwn ? own.pathname + own.search : url;
}
