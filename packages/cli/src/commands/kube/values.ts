import type { Questions } from "../questions.ts";

const NONE = "none";

/**
 * Prompts for the values that an installation needs, in the form of `--set`. Databases and Redis are named by their
 * Secrets, so that Helm's command contains no password.
 */
export async function askValues({ ask }: Pick<Questions, "ask">): Promise<string[]> {
  const type = await ask({
    text: "Database",
    usual: "mysql",
    choices: ["mysql", "postgres", "sqlite"],
    flag: "--set database.type=TYPE",
  });
  const stores =
    type === "sqlite"
      ? ["redis.enabled=false", "replicaCount=1"]
      : [
          ...(await asked(
            "database.existingSecret",
            "Secret whose key `url` holds the address of the database",
            "fairway-database",
          )),
          ...(await asked(
            "redis.existingSecret",
            "Secret whose key `url` holds the address of Redis",
            "fairway-redis",
          )),
        ];
  return [
    `database.type=${type}`,
    ...stores,
    ...(await asked("image.registry", "Registry that holds the image", NONE)),
    ...(await asked("server.publicUrl", "Address for users, such as https://ai.example.com", NONE)),
    ...(await follows()),
  ];

  async function asked(value: string, text: string, usual: string): Promise<string[]> {
    const answer = await ask({ text, usual, flag: `--set ${value}=…` });
    // A comma separates values, so it is escaped.
    return answer === NONE ? [] : [`${value}=${answer.replaceAll(",", String.raw`\,`)}`];
  }

  async function follows(): Promise<string[]> {
    const text = "Follow channels, options, tokens and budgets from Git";
    const answer = await ask({ text, usual: "no", choices: ["no", "yes"], flag: "--set gitops.enabled=true" });
    return answer === "yes" ? ["gitops.enabled=true"] : [];
  }
}
