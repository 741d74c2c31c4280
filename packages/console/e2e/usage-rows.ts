import { insertRows } from "./rows.ts";

const HOUR = 3_600;
const DAY = 86_400;
/** Dimensions of the column of this name in `usage_statistics`. */
const DIMENSION = { all: 0, user: 1, token: 2, model: 5, userModel: 6 } as const;

/** The usage of one model by one user's token in one hour. */
export interface UsedHour {
  /** Epoch seconds of the start of an hour. */
  readonly start: number;
  readonly userId: number;
  readonly tokenId?: number;
  readonly model: string;
  readonly calls: number;
  readonly quota: number;
  readonly tokens: number;
}

/** Adds hours to the gateway's sums: by hour and by day, in total and for each dimension. */
export function insertUsage(file: string, hours: readonly UsedHour[]): void {
  const sums = new Map<string, Record<string, string | number>>();
  for (const hour of hours)
    for (const [dimension, owner_id, subject] of listSubjects(hour))
      for (const [span, start] of [
        [HOUR, hour.start],
        [DAY, hour.start - (hour.start % DAY)],
      ] as const) {
        const key = JSON.stringify([span, dimension, owner_id, subject, start]);
        const sum = sums.get(key) ?? { calls: 0, quota: 0, input_tokens: 0 };
        sums.set(key, {
          span,
          dimension,
          owner_id,
          subject,
          start,
          calls: Number(sum["calls"]) + hour.calls,
          errors: 0,
          refused: 0,
          quota: Number(sum["quota"]) + hour.quota,
          input_tokens: Number(sum["input_tokens"]) + hour.tokens,
          output_tokens: 0,
          latency: "",
          first_token: "",
        });
      }
  insertRows(file, "usage_statistics", [...sums.values()]);
}

function listSubjects({ userId, tokenId, model }: UsedHour): (readonly [number, number, string])[] {
  return [
    [DIMENSION.all, 0, ""],
    [DIMENSION.user, userId, String(userId)],
    [DIMENSION.model, 0, model],
    [DIMENSION.userModel, userId, model],
    ...(tokenId === undefined ? [] : [[DIMENSION.token, userId, String(tokenId)] as const]),
  ];
}
