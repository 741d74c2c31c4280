// `npm run seed -- --logs N`: fills an empty database with users, tokens, channels, a log, a ledger and hourly sums
// that agree with each other, for measurements and tests at a realistic size. `--help` names the options.
import { openStorage } from "../packages/gateway/src/composition/storage.ts";
import { loadEnv } from "../packages/gateway/src/config/env.ts";
import { firstStart } from "../packages/gateway/src/identity/accounts/first-start.ts";
import { createPasswords } from "../packages/gateway/src/identity/passwords/passwords.ts";
import { systemClock } from "../packages/gateway/src/lib/clock.ts";
import { createLog } from "../packages/gateway/src/observability/log.ts";
import { VERSION } from "../packages/gateway/src/version.ts";
import { ROOT } from "./bootstrap.mjs";
import { main } from "./process.ts";
import { SAMPLE_PASSWORD } from "./seed/entities.ts";
import { readArguments, USAGE } from "./seed/plan.ts";
import { runSeed } from "./seed/run.ts";
import { seedVariables } from "./start-variables.ts";

const say = (line: string) => void process.stdout.write(`${line}\n`);

await main(async () => {
  const args = process.argv.slice(2);
  if (args.includes("--help")) return say(USAGE);
  const { database: url, isAdding, plan } = readArguments(args, Date.now());
  const env = loadEnv(seedVariables(ROOT, process.env, url));
  const log = createLog({ level: "warn", format: "text", out: process.stderr });
  const storage = await openStorage(env, log);
  try {
    const { database, vault } = storage;
    const passwords = createPasswords();
    const account = {
      passwords,
      clock: systemClock,
      rootPassword: env.rootPassword,
      hasWizard: false,
      setupToken: undefined,
      firstRetries: env.firstRetries,
    } as const;
    const { madePassword } = await firstStart({ ...account, database, log, version: VERSION, host: "127.0.0.1" });
    if (madePassword !== undefined) say(`account root, password ${madePassword}`);
    await runSeed({ database, url: env.databaseUrl.reveal(), vault, plan, isAdding, say });
    say(`users sign in with the password ${SAMPLE_PASSWORD}`);
  } finally {
    log.flush();
    await storage.close();
  }
});
