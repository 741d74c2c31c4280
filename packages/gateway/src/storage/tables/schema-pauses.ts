import type { Generated } from "kysely";

/** Row type of pauses of channels; the rules of `Schema` apply. */
export interface ChannelPauseTable {
  id: Generated<number>;
  created_at: number;
  user_id: number;
  /** The user's name at that time. */
  username: string;
  reason: string;
  /** Epoch seconds; 0 = no time. */
  until_at: number;
  until_tests: number;
  /** Epoch seconds of the latest round of tests. */
  tested_at: number;
  /** JSON: the ids of the channels that were switched off. */
  channels: string;
  /** 0 = lasts. */
  ended_at: number;
  /** `PauseEnd` */
  ended_how: string;
}
