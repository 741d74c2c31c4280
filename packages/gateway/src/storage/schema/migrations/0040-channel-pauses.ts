import { ascii, bigint, id, index, integer, longText, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Channels that were switched off together, until a time or until tests pass. */
export const channelPauses: Migration = {
  version: 40,
  name: "pauses of channels",
  steps: tables({
    channel_pauses: {
      columns: {
        id: id(),
        created_at: bigint(),
        user_id: bigint(0),
        username: text(191),
        reason: text(191),
        until_at: bigint(0),
        until_tests: integer(0),
        tested_at: bigint(0),
        channels: longText(),
        ended_at: bigint(0),
        ended_how: ascii(16),
      },
      indexes: [index("ended_at", "id")],
    },
  }),
};
