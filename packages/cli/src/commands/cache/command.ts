import type { Command } from "commander";
import { createNameParser, examples, withParts, yes } from "../../core/arguments.ts";
import type { CommandContext } from "../../session/command-context.ts";
import type { CacheListOptions } from "./cache.ts";

const load = () => import("./cache.ts");
const parseId = createNameParser("cache");
const AS_LISTED = "as `fairway cache list` shows it";

export function cacheCommands(program: Command, { client, output }: CommandContext): void {
  const cache = program.command("cache").alias("caches").description("prompts that clients cache at Gemini channels");
  const list = cache
    .command("list")
    .description("newest first, with what their storage has cost; administrators see those of all users")
    .option("--mine", "only your own, for administrators too")
    .option("--model <name>", "only those of a model")
    .action(async (options: CacheListOptions) => (await load()).listCaches(await client(), options, output()));
  examples(withParts(list), "fairway cache list --model gemini-3.5-flash", "fairway cache list --mine -o name");
  const get = cache
    .command("get")
    .argument("<id>", AS_LISTED, parseId)
    .description("one cache with its storage cost so far and its end")
    .action(async (id: string) => (await load()).getCache(await client(), id, output()));
  examples(get, "fairway cache get cache/0lqz3k");
  const remove = cache
    .command("delete")
    .argument("<id...>", AS_LISTED, collectIds)
    .description("delete caches here and at their providers, and charge their storage until now")
    .addOption(yes())
    .action(async (chosen: string[], options: { readonly yes?: boolean }) =>
      (await load()).deleteCaches(await client(), chosen, options, output()),
    );
  examples(remove, "fairway cache delete 0lqz3k --yes");
}

function collectIds(text: string, before: readonly string[] = []): string[] {
  return [...before, parseId(text)];
}
