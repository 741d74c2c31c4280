import type { CommandContext } from "../../session/command-context.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { isForPeople, printOne } from "../../print/output.ts";
import { isLinesOnly } from "../../print/signs.ts";
import { readProfile } from "../../session/config.ts";
import { noteContext, runLogin } from "../account/login.ts";
import { agreedQuestions, plainQuestions, type Questions } from "../questions.ts";
import { connectProvider, makeToken, buildSnippet, type ProviderOptions } from "./steps.ts";

export interface InitOptions extends ProviderOptions {
  readonly username?: string;
  readonly passwordStdin?: boolean;
  readonly insecureHttp?: boolean;
  readonly token: boolean;
  readonly tokenName: string;
  readonly plain?: boolean;
  readonly yes?: boolean;
}

const HERE = "http://127.0.0.1:3000";

/** Each step prints what it did and leaves existing things alone. */
export async function runInit(
  server: string | undefined,
  options: InitOptions,
  context: CommandContext,
): Promise<void> {
  const output = context.output();
  const questions = await openQuestions(options, context);
  try {
    await signIn(server, options, questions, context);
    const { client, profile } = await context.session();
    const channel = await connectProvider(client, options, questions);
    const token = options.token ? await makeToken(client, options.tokenName) : undefined;
    questions.close();
    const [model = "MODEL"] = channel.models;
    if (!isForPeople(output)) await printOne(output, { server: profile.server, channel, token });
    else if (token) for (const line of buildSnippet(profile.server, token.key, model)) output.out(line);
    if (!channel.test.ok)
      throw new CliError(
        `channel ${channel.id} failed its test: ${channel.test.message}`,
        EXIT.partial,
        `change it with \`fairway channel edit ${channel.id}\``,
      );
    output.note(`Next: fairway ui, or fairway chat --model ${model} "Hello"`);
  } finally {
    questions.close();
  }
}

async function openQuestions({ yes, plain }: InitOptions, { io, output }: CommandContext): Promise<Questions> {
  const { note, format } = output();
  if (yes) return agreedQuestions(note);
  if (!isForPeople({ format }))
    throw new CliError(`questions have no -o ${format}`, EXIT.usage, "add --yes, and flags that answer them");
  if (!io.isTerminal)
    throw new CliError(
      "init asks questions, and there is no terminal",
      EXIT.usage,
      "add --yes, and flags that answer them",
    );
  if (plain || isLinesOnly(io.env)) return plainQuestions(note);
  return (await import("./screen.tsx")).screenQuestions();
}

/** Signs in; a sign-in to the same gateway is reused. */
async function signIn(
  server: string | undefined,
  options: InitOptions,
  questions: Questions,
  { env, output, transport }: CommandContext,
): Promise<void> {
  const profile = readProfile(env());
  if (profile && (server === undefined || profile.server === server.replace(/\/+$/, "")))
    return questions.say(`Signed in to ${profile.server}.`);
  const address =
    server ?? (await questions.ask({ text: "Address of the gateway", usual: HERE, flag: "the first argument" }));
  const ask = (text: string, isSecret = false) =>
    questions.ask({ text, isSecret, flag: isSecret ? "--password-stdin" : "--username" });
  const quiet = { ...output(), note: (text: string) => questions.say(text) };
  await runLogin(address, options, quiet, { env: env(), transport: await transport(), ask });
  noteContext(env(), quiet);
}
