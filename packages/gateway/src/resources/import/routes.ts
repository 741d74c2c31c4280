import { litellmImport, pricesImport } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Network } from "../../lib/net/network.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import type { Announce, Vault } from "../ports.ts";
import { importConfig } from "./config.ts";
import { importPrices } from "./served-prices.ts";
import { GroupNames } from "./groups.ts";
import { UnknownConfig } from "./gateway-config.ts";
import { ImportReport } from "./report.ts";

export interface ImportRoutesDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly announce: Announce;
  readonly network: Network;
}

export function importRoutes({ database: target, vault, clock, announce, network }: ImportRoutesDeps): Route[] {
  return [
    implement(litellmImport, async ({ body, caller, context }) => {
      const { config: text, variables: env = {}, dry_run: isDry = false } = body;
      const prices = { areChannelsAsked: body.price_from_upstream ?? false, former: body.price_from, network };
      const groups = new GroupNames(body.groups);
      const report = new ImportReport();
      const writer = { userId: caller.userId, username: caller.username, ip: context.ip };
      try {
        await importConfig({ target, vault, clock, isDry, text, env, writer, prices, groups }, report);
      } catch (error) {
        if (!(error instanceof UnknownConfig)) throw error;
        throw new Refusal("document_invalid", { field: "config", values: { name: "config", reason: error.message } });
      }
      if (!isDry) for (const topic of ["channels", "options"] as const) await announce(topic);
      return report.lines();
    }),
    implement(pricesImport, async ({ body, caller, context }) => {
      const isDry = body.dry_run ?? false;
      const report = new ImportReport();
      const channels = body.channels.map(({ models, ...channel }) => ({
        ...channel,
        models: new Map(Object.entries(models)),
      }));
      const { options = {}, price_from_upstream: areChannelsAsked = false } = body;
      const writer = { userId: caller.userId, username: caller.username, ip: context.ip };
      const settings = { target, vault, clock, network, isDry, channels, options, areChannelsAsked, writer };
      await importPrices(settings, report);
      if (!isDry) await announce("options");
      return report.lines();
    }),
  ];
}
