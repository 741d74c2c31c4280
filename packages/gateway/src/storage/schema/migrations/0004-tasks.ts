import { bigint, id, index, integer, longText, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const tasks: Migration = {
  version: 4,
  name: "tasks",
  steps: tables({
    midjourneys: {
      columns: {
        id: id(),
        code: integer(),
        user_id: bigint(),
        action: text(40),
        mj_id: text(191),
        prompt: longText(),
        prompt_en: longText(),
        description: longText(),
        state: longText(),
        submit_time: bigint(),
        start_time: bigint(),
        finish_time: bigint(),
        image_url: longText(),
        status: text(20),
        progress: text(30),
        fail_reason: longText(),
        channel_id: bigint(),
        quota: bigint(),
        buttons: longText(),
        properties: longText(),
        created_at: bigint(),
        token_id: bigint(0),
        request_id: text(64),
        charged: integer(0),
        refunded: integer(0),
      },
      indexes: [
        // A user's list, newest first.
        index("user_id", "id"),
        // The search by task id; a callback.
        index("mj_id"),
        // The list for a period.
        index("submit_time"),
        // Polling of unfinished tasks.
        index("progress"),
      ],
    },
    tasks: {
      columns: {
        id: id(),
        created_at: bigint(),
        updated_at: bigint(),
        task_id: text(191),
        platform: text(30),
        user_id: bigint(),
        channel_id: bigint(),
        quota: bigint(),
        action: text(40),
        status: text(20),
        fail_reason: longText(),
        submit_time: bigint(),
        start_time: bigint(),
        finish_time: bigint(),
        progress: text(20),
        properties: longText(),
        data: longText(),
        token_id: bigint(0),
        request_id: text(64),
        charged: integer(0),
        refunded: integer(0),
      },
      indexes: [
        // A user's list, newest first.
        index("user_id", "id"),
        // The search by task id.
        index("task_id"),
        // The list for a period.
        index("submit_time"),
        // Polling of unfinished tasks.
        index("progress"),
      ],
    },
  }),
};
