import {
  drawingList,
  drawingListSelf,
  resolvePage,
  serverAddress,
  type Drawing,
  type OptionValues,
} from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import type { DrawingStore } from "./store.ts";

export interface DrawingRoutesDeps {
  readonly store: DrawingStore;
  readonly options: () => Pick<OptionValues, "MjForwardUrlEnabled" | "ServerAddress">;
  /** Public address of this server, used while the option is not set. */
  readonly publicUrl: string | undefined;
  /** Returns a signed address of an image on this gateway, which needs no sign-in. */
  readonly imageUrl: (serverAddress: string, mjId: string) => string;
}

export function drawingRoutes(deps: DrawingRoutesDeps): Route[] {
  const { store } = deps;
  return [
    implement(drawingList, async (call) => {
      const { rows, total } = await store.page({ ...call.query, ...resolvePage(call.query), userId: 0 });
      call.setTotal(total);
      return rows.map((row) => withOwnUrl(deps, row));
    }),
    implement(drawingListSelf, async (call: Call<typeof drawingListSelf>) => {
      const own = { ...call.query, ...resolvePage(call.query), userId: call.caller.userId, channel_id: 0 };
      const { rows, total } = await store.page(own);
      call.setTotal(total);
      return rows.map((row) => ({ ...withOwnUrl(deps, row), channel_id: 0 }));
    }),
  ];
}

function withOwnUrl({ options, publicUrl, imageUrl }: DrawingRoutesDeps, row: Drawing): Drawing {
  const settings = options();
  if (!settings.MjForwardUrlEnabled || row.image_url === "") return row;
  return { ...row, image_url: imageUrl(serverAddress(settings, publicUrl), row.mj_id) };
}
