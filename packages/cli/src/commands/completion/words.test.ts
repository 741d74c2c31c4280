import { Argument, Command, Option } from "commander";
import { describe, expect, it } from "vitest";
import { candidatesFor } from "./words.ts";

const program = new Command("fairway").option("-o, --output <format>", "how data is printed").option("--no-color");
program.addOption(new Option("-p, --print <format>").choices(["table", "json"]));
const channel = program.command("channel").alias("ch").description("upstream providers");
channel
  .command("list")
  .addOption(new Option("--status <word>").choices(["enabled", "disabled"]))
  .option("--all");
channel.command("get").argument("<id>");
program.command("completion").addArgument(new Argument("<shell>").choices(["bash", "zsh"]));
program.command("option").command("set").argument("<key>").argument("<value>");
program.command("secret", { hidden: true });

async function words(...typed: string[]): Promise<string[]> {
  const found = await candidatesFor(program, typed, (_command, argument) =>
    Promise.resolve(argument.name() === "key" ? ["RetryTimes", "SystemName"] : []),
  );
  return found.map(({ word }) => word);
}

it("passes what is typed to the source of names, which may know more than it lists", async () => {
  const asked: string[] = [];
  await candidatesFor(program, ["channel", "get", "harb"], (_command, _place, begun) => {
    asked.push(begun);
    return Promise.resolve([]);
  });
  expect(asked).toEqual(["harb"]);
});

describe("candidatesFor", () => {
  it.each([
    [[""], ["channel", "completion", "option", "help"]],
    [["c"], ["channel", "completion"]],
    [
      ["channel", ""],
      ["list", "get", "help"],
    ],
    [["ch", "l"], ["list"]],
    [["-o", "json", "channel", "l"], ["list"]],
    [["channel", "list", "--st"], ["--status"]],
    [
      ["channel", "list", "--"],
      ["--status", "--all", "--help", "--output", "--no-color", "--print"],
    ],
    [
      ["channel", "list", "--status", ""],
      ["enabled", "disabled"],
    ],
    [["channel", "list", "-p", "j"], ["json"]],
    [["channel", "list", "--all", "--status", "e"], ["enabled"]],
    [["channel", "get", ""], []],
    [
      ["completion", ""],
      ["bash", "zsh"],
    ],
    [["completion", "bash", ""], []],
    [["option", "set", "R"], ["RetryTimes"]],
    [["option", "set", "RetryTimes", ""], []],
    [["channel", "list", "--", "--st"], []],
    [
      ["nonsense", "x", ""],
      ["channel", "completion", "option", "help"],
    ],
  ])("%j", async (typed, expected) => expect(await words(...typed)).toEqual(expected));
});
