import type { Command } from "commander";
import { createNameParser, examples, positive } from "../../core/arguments.ts";
import type { CommandContext } from "../../session/command-context.ts";
import type { PricePlanOptions } from "./price.ts";

const load = () => import("./price.ts");

/** Adds the commands of planned prices. */
export function priceCommands(program: Command, { client, io, output }: CommandContext): void {
  const price = program.command("price").alias("prices").description("prices of models from a time on");
  const plan = price
    .command("plan")
    .argument("<model>", "its name", createNameParser("model"))
    .description(
      "change a price at a time, and say what the last 24 hours would have cost; with --dry-run only that (super administrator)",
    )
    .requiredOption("--from <when>", "2026-12-01, a time with its zone, or 1d from now")
    .option("--input-price <dollars>", "for a million tokens of input")
    .option("--output-price <dollars>", "for a million tokens of output")
    .option("--cached-price <dollars>", "for a million tokens of input from a cache")
    .option("--per-call <dollars>", "for a call, instead of the others")
    .action(async (model: string, options: PricePlanOptions) =>
      (await load()).planPrice(await client(), model, options, {
        output: output(),
        nowSeconds: io.nowSeconds(),
      }),
    );
  examples(
    plan,
    "fairway price plan gpt-4o --from 2026-12-01 --input-price 2.5 --output-price 10 --cached-price 1.25",
    "fairway price plan gpt-4o --from 1d --input-price 2 --output-price 8 --dry-run",
    "fairway price plan dall-e-3 --from 2026-12-01T09:00:00+01:00 --per-call 0.04",
  );
  const list = price
    .command("list")
    .description("planned prices, the next first, then the latest that began or were cancelled")
    .action(async () => (await load()).listPricePlans(await client(), output()));
  examples(list, "fairway price list", "fairway price list -o jsonl | jq .prices");
  const cancel = price
    .command("cancel")
    .argument("<plan>", "its id, as `fairway price list` shows it", positive)
    .description("take a plan back before it begins")
    .action(async (id: number) => (await load()).cancelPricePlan(await client(), id, output()));
  examples(cancel, "fairway price cancel 2");
}
