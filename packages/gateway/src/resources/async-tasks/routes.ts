import { resolvePage, taskList, taskListSelf } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { TaskStore } from "./store.ts";

export function taskRoutes({ store }: { readonly store: TaskStore }): Route[] {
  return [
    implement(taskList, async (call) => {
      const { rows, total } = await store.page({ ...call.query, ...resolvePage(call.query), userId: 0 });
      call.setTotal(total);
      return rows;
    }),
    implement(taskListSelf, async (call) => {
      const own = { ...call.query, ...resolvePage(call.query), userId: call.caller.userId, channel_id: 0 };
      const { rows, total } = await store.page(own);
      call.setTotal(total);
      return rows.map((row) => ({ ...row, channel_id: 0 }));
    }),
  ];
}
