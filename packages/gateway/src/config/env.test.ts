import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ENV_VARIABLES, EnvError, loadEnv } from "./env.ts";

const refusal = (source: Record<string, string>): string => {
  try {
    loadEnv(source);
  } catch (error) {
    expect(error).toBeInstanceOf(EnvError);
    return (error as EnvError).message;
  }
  throw new Error("accepted");
};

describe("defaults", () => {
  test("start a gateway on loopback with a database file of its own", () => {
    const env = loadEnv({});
    expect(env).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      adminHost: "127.0.0.1",
      adminPort: 9090,
      isEmbedded: true,
      aliases: [],
    });
    expect(env.databaseUrl.reveal()).toBe("sqlite:.fairway/fairway.db");
    expect(env.encryptionKeys).toBeUndefined();
    expect([...env.roles]).toEqual(["relay", "console", "jobs"]);
    expect(env.limitApi).toEqual({ anonymous: { count: 180, seconds: 180 }, user: { count: 1800, seconds: 180 } });
    expect(env.limitWeb).toEqual({ count: 900, seconds: 180 });
    expect(env.limitCritical).toEqual({ count: 20, seconds: 1200 });
    expect(env).toMatchObject({ connectTimeoutMs: 10_000, headerTimeoutMs: 600_000, streamHeaderTimeoutMs: 120_000 });
    expect(env).toMatchObject({
      streamIdleTimeoutMs: 300_000,
      heartbeatMs: 15_000,
      retryTotalSeconds: 120,
      drainSeconds: 240,
    });
    expect(Object.isFrozen(env)).toBe(true);
  });

  test.each(ENV_VARIABLES)(
    "of $name, and its example when it is no secret, are texts that its parser takes",
    (variable) => {
      expect(() => variable.parse(variable.fallback)).not.toThrow();
      if (!variable.isSecret) expect(() => variable.parse(variable.example)).not.toThrow();
    },
  );

  test("hold for variables of white space: a blank host would be every address", () => {
    const { host, dataDir, adminHost } = loadEnv({
      FAIRWAY_HOST: " ",
      FAIRWAY_DATA_DIR: "\t",
      FAIRWAY_ADMIN_HOST: " ",
    });
    expect({ host, dataDir, adminHost }).toEqual({ host: "127.0.0.1", dataDir: ".fairway", adminHost: "127.0.0.1" });
  });

  test("hold for blank variables too", () => {
    expect(loadEnv({ FAIRWAY_PORT: "", FAIRWAY_REDIS_URL: "" })).toMatchObject({ port: 3000, redisUrl: undefined });
  });

  test("that documents may refer to are found by the rest of their names, and not exposed", () => {
    const { documentSecrets } = loadEnv({ FAIRWAY_SECRET_OPENAI: "sk-canary", FAIRWAY_SECRET_BLANK: "" });
    expect(Object.keys(documentSecrets)).toEqual(["OPENAI"]);
    expect(documentSecrets["OPENAI"]?.reveal()).toBe("sk-canary");
    expect(JSON.stringify(documentSecrets)).not.toContain("canary");
  });

  test("of the second listener and the embedded database follow their neighbours", () => {
    const env = loadEnv({ FAIRWAY_HOST: "0.0.0.0", FAIRWAY_DATA_DIR: "/data" });
    expect(env.adminHost).toBe("0.0.0.0");
    expect(env.databaseUrl.reveal()).toBe("sqlite:/data/fairway.db");
  });
});

describe("values", () => {
  test("are read by kind", () => {
    const env = loadEnv({
      FAIRWAY_ADMIN_PORT: "off",
      FAIRWAY_SETUP_WIZARD: "Yes",
      FAIRWAY_TRUSTED_PROXIES: "10.0.0.0/8, ::1",
      FAIRWAY_LIMIT_API: "5/60",
      FAIRWAY_LIMIT_WEB: "off",
      FAIRWAY_ROLES: "relay",
      FAIRWAY_PUBLIC_URL: "https://ai.example.com/",
      FAIRWAY_DATABASE_URL: "mysql://u:p@db/fairway",
      FAIRWAY_REDIS_URL: "redis://cache",
      FAIRWAY_INSTANCE_ID: "pod-1",
    });
    expect(env).toMatchObject({
      adminPort: undefined,
      setupWizard: true,
      limitWeb: undefined,
      isEmbedded: false,
      instanceId: "pod-1",
    });
    expect(env.publicUrl).toBe("https://ai.example.com");
    expect(env.limitApi).toEqual({ anonymous: { count: 5, seconds: 60 }, user: { count: 5, seconds: 60 } });
    expect(env.trustedProxies.map((network) => network.contains("10.1.2.3"))).toEqual([true, false]);
    expect([...env.roles]).toEqual(["relay"]);
  });

  test.each([
    [{ FAIRWAY_PORT: "70000" }, 'FAIRWAY_PORT is "70000": give a whole number from 0 to 65535, for example 8080'],
    [{ FAIRWAY_PORT: "tcp://10.0.0.1:3000" }, "enableServiceLinks: false"],
    [{ FAIRWAY_SERVICE_HOST: "10.0.0.1" }, "enableServiceLinks: false"],
    [{ FAIRWAY_PORT_3000_TCP_ADDR: "10.0.0.1" }, "enableServiceLinks: false"],
    [{ FAIRWAY_LOG_LEVEL: "loud" }, 'FAIRWAY_LOG_LEVEL is "loud": give one of debug, info, warn, error, off'],
    [{ FAIRWAY_LIMIT_CRITICAL: "20/1201" }, "at most 1200 seconds"],
    [{ FAIRWAY_LIMIT_API: "1/1,2/2,3/3" }, "give one rate, or two"],
    [{ FAIRWAY_TRUSTED_PROXIES: "10.0.0.0/8,proxy" }, "proxy is neither"],
    [{ FAIRWAY_SETUP_WIZARD: "maybe" }, "give true or false"],
    [{ FAIRWAY_GITHUB_URL: "github.com" }, "begins with http:// or https://"],
    [{ FAIRWAY_DATABASE_URL: "mysql://db:3306" }, "FAIRWAY_DATABASE_URL cannot be used: give sqlite:PATH"],
    [{ FAIRWAY_DATABASE_URL: "mysql://u:a#b@db/f" }, "special characters of the password percent-encoded"],
    [
      { FAIRWAY_DATABASE_URL: "mysql://u@db/f?sslmode=verify-full" },
      "parameter sslmode is none: TLS is set by ssl-mode",
    ],
    [{ FAIRWAY_DATABASE_URL: "postgres://u@db/f?ssl-mode=required" }, "ssl-mode is none: TLS is set by sslmode"],
    [{ FAIRWAY_SESSION_SECRET: "random_string" }, "is used in public examples"],
    [{ FAIRWAY_SESSION_SECRET: "short" }, "give at least 16 characters"],
    [{ FAIRWAY_POLLING_INTERVAL: "-1" }, "give a number from 0 to 3600"],
  ])("%o is refused with the cure", (source, message) => {
    expect(refusal(source)).toContain(message);
  });

  test("that are secret never stand in a refusal", () => {
    expect(refusal({ FAIRWAY_ROOT_PASSWORD: "hunter2" })).not.toContain("hunter2");
    expect(refusal({ FAIRWAY_ENCRYPTION_KEY: "a:c2hvcnQ=" })).not.toContain("c2hvcnQ");
  });

  test("that are secret do not print", () => {
    const env = loadEnv({ FAIRWAY_ROOT_PASSWORD: "correct-horse", FAIRWAY_DATABASE_URL: "mysql://u:hidden@db/f" });
    expect(JSON.stringify(env)).not.toMatch(/correct-horse|hidden/);
  });
});

describe("a password of its own", () => {
  const password = "p@ss:w/rd%";
  const encoded = "p%40ss%3Aw%2Frd%25";

  test.each([
    ["mysql://fairway@db:3306/fairway", `mysql://fairway:${encoded}@db:3306/fairway`],
    ["postgres://fairway@[fd00::1]/f?sslmode=require", `postgres://fairway:${encoded}@[fd00::1]/f?sslmode=require`],
  ])("goes into the database's URL %s", (url, whole) => {
    const env = loadEnv({ FAIRWAY_DATABASE_URL: url, FAIRWAY_DATABASE_PASSWORD: password });
    expect(env.databaseUrl.reveal()).toBe(whole);
  });

  test.each([
    ["redis://cache:6379/0", `redis://:${encoded}@cache:6379/0`],
    ["rediss://gateway@cache", `rediss://gateway:${encoded}@cache`],
    ["redis+sentinel://a:26379,b:26379/0?master=m", `redis+sentinel://:${encoded}@a:26379,b:26379/0?master=m`],
  ])("goes into the URL of Redis %s", (url, whole) => {
    const env = loadEnv({ FAIRWAY_REDIS_URL: url, FAIRWAY_REDIS_PASSWORD: password });
    expect(env.redisUrl?.reveal()).toBe(whole);
  });

  test("next to one in the URL, or without a server, is refused", () => {
    const both = { FAIRWAY_DATABASE_URL: "mysql://u:first@db/f", FAIRWAY_DATABASE_PASSWORD: "second" };
    expect(refusal(both)).toBe(
      "FAIRWAY_DATABASE_PASSWORD cannot be used: give the password in one place: the URL has one too",
    );
    expect(refusal({ FAIRWAY_REDIS_PASSWORD: "second" })).toContain("give the URL of a server");
  });
});

describe("names", () => {
  test("that are mistyped stop the start and are put right", () => {
    expect(refusal({ FAIRWAY_PROT: "1" })).toBe(
      "FAIRWAY_PROT is not a variable of the gateway: did you mean FAIRWAY_PORT?",
    );
    expect(refusal({ FAIRWAY_COMPLETELY_DIFFERENT: "1" })).toContain("remove it");
  });

  test("of the command line and of tests are left alone", () => {
    expect(() => loadEnv({ FAIRWAY_TOKEN: "x", FAIRWAY_TEST_MARIADB_URL: "y", PATH: "/bin" })).not.toThrow();
  });
});

describe("secrets from files", () => {
  const withFile = (text: string, use: (path: string) => void) => {
    const folder = mkdtempSync(join(tmpdir(), "fairway-env-"));
    try {
      writeFileSync(join(folder, "secret"), text);
      use(join(folder, "secret"));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  test("are read without their last line break", () => {
    withFile("correct-horse\n", (path) => {
      expect(loadEnv({ FAIRWAY_ROOT_PASSWORD_FILE: path }).rootPassword?.reveal()).toBe("correct-horse");
    });
  });

  test("together with the variable itself, or without a file, are refused", () => {
    withFile("correct-horse", (path) => {
      expect(refusal({ FAIRWAY_ROOT_PASSWORD_FILE: path, FAIRWAY_ROOT_PASSWORD: "battery-staple" })).toContain(
        "are both set",
      );
    });
    expect(refusal({ FAIRWAY_ROOT_PASSWORD_FILE: "/nowhere/secret" })).toContain(
      "FAIRWAY_ROOT_PASSWORD_FILE names /nowhere/secret",
    );
  });

  test("that are empty are refused: another database, or no password, would be the answer otherwise", () => {
    for (const text of ["", "\n", " \r\n"])
      withFile(text, (path) => {
        expect(refusal({ FAIRWAY_DATABASE_URL_FILE: path })).toMatch(
          /^FAIRWAY_DATABASE_URL_FILE names .*, which is empty: write the value into it, or remove the variable$/,
        );
      });
  });

  test("are for secrets only", () => {
    expect(refusal({ FAIRWAY_PORT_FILE: "/x" })).toContain("not a variable");
  });
});

describe("encryption keys", () => {
  const base64 = Buffer.alloc(32, 7).toString("base64");

  test("are a list, newest first", () => {
    const keys = loadEnv({
      FAIRWAY_ENCRYPTION_KEY: `b:${base64},a:${Buffer.alloc(32, 9).toString("base64")}`,
    }).encryptionKeys;
    expect(keys?.map((key) => key.id)).toEqual(["b", "a"]);
    expect(keys?.[0]?.key.reveal()).toBe(base64);
  });

  test("or one secret, whose id tells it from others", () => {
    const [one] = loadEnv({ FAIRWAY_ENCRYPTION_KEY: "a secret of some length" }).encryptionKeys ?? [];
    const [same] = loadEnv({ FAIRWAY_ENCRYPTION_KEY: "a secret of some length" }).encryptionKeys ?? [];
    const [other] = loadEnv({ FAIRWAY_ENCRYPTION_KEY: "another secret, as long" }).encryptionKeys ?? [];
    expect(one?.id).toBe(same?.id);
    expect(one?.id).not.toBe(other?.id);
    expect(Buffer.from(one?.key.reveal() ?? "", "base64")).toHaveLength(32);
  });

  test("derive slowly from a passphrase and keep its fast key for what is stored; random bits need neither", () => {
    const loadKeyIds = (value: string) =>
      loadEnv({ FAIRWAY_ENCRYPTION_KEY: value }).encryptionKeys?.map(({ id }) => id);
    expect(loadKeyIds("correct horse battery staple")).toEqual(["p552f522a", "sb867db87"]);
    expect(loadKeyIds(`new:${base64},correct horse, battery staple`)).toHaveLength(3);
    expect(loadKeyIds("5b".repeat(32))).toEqual(["s175ef913"]);
    const [slow, fast] = loadEnv({ FAIRWAY_ENCRYPTION_KEY: "correct horse battery staple" }).encryptionKeys ?? [];
    expect([slow?.isLegacy, fast?.isLegacy]).toEqual([undefined, true]);
  });

  test.each([`a:${base64},a:${base64}`, "a:short", "short"])("%s is refused", (text) => {
    expect(refusal({ FAIRWAY_ENCRYPTION_KEY: text })).toContain("FAIRWAY_ENCRYPTION_KEY cannot be used: give");
  });
});

describe("names of compatible gateways", () => {
  const loadDatabaseUrl = (dsn: string) => loadEnv({ SQL_DSN: dsn }).databaseUrl.reveal();

  test("replace missing ones, and are reported", () => {
    const env = loadEnv({
      PORT: "8080",
      SQL_DSN: "root:p@ss/w:rd@tcp(db:3306)/oneapi?charset=utf8mb4&parseTime=True",
      REDIS_CONN_STRING: "redis://redis:6379",
      SESSION_SECRET: "0123456789abcdef",
      STREAMING_TIMEOUT: "60",
      GLOBAL_API_RATE_LIMIT: "60",
      CRITICAL_RATE_LIMIT_ENABLE: "false",
      NODE_TYPE: "slave",
      FAIRWAY_REDIS_URL: "redis://ours",
    });
    expect(env).toMatchObject({ port: 8080, streamIdleTimeoutMs: 60_000, limitCritical: undefined, migrate: "wait" });
    expect(env.databaseUrl.reveal()).toBe("mysql://root:p%40ss%2Fw%3Ard@db:3306/oneapi?ssl-mode=disabled");
    expect(env.limitApi.user).toEqual({ count: 60, seconds: 180 });
    expect(env.redisUrl?.reveal()).toBe("redis://ours");
    expect(env.encryptionKeys).toHaveLength(2);
    expect(env.aliases).toContainEqual({ alias: "PORT", name: "FAIRWAY_PORT" });
    expect(env.aliases.map(({ alias }) => alias)).not.toContain("REDIS_CONN_STRING");
  });

  test.each([
    ["postgres://u:p@db:5432/oneapi", "postgres://u:p@db:5432/oneapi"],
    ["local", "sqlite:.fairway/fairway.db"],
    ["u:p@tcp([::1]:3307)/db?tls=true", "mysql://u:p@[::1]:3307/db?ssl-mode=verify-identity"],
    ["u@unix(/run/mysqld.sock)/db", "mysql://u:@localhost/db?ssl-mode=disabled&socket=%2Frun%2Fmysqld.sock"],
    ["u:p@/db", "mysql://u:p@127.0.0.1:3306/db?ssl-mode=disabled"],
  ])("SQL_DSN %s means %s", (dsn, url) => {
    expect(loadDatabaseUrl(dsn)).toBe(url);
  });

  test("of Redis with sentinels become one address", () => {
    const given = { REDIS_CONN_STRING: "a:26379,b:26379", REDIS_MASTER_NAME: "main", REDIS_PASSWORD: "p@ss/w" };
    expect(loadEnv(given).redisUrl?.reveal()).toBe("redis+sentinel://:p%40ss%2Fw@a:26379,b:26379/0?master=main");
    expect(refusal({ ...given, REDIS_CONN_STRING: "redis://:hidden@a:26379" })).toContain(
      "REDIS_CONN_STRING cannot be used",
    );
    expect(refusal({ REDIS_CONN_STRING: "a:26379,b:26379" })).toContain("redis+sentinel://");
  });

  test("with values that cannot be used are named as they were given", () => {
    expect(refusal({ STREAMING_TIMEOUT: "soon" })).toContain('STREAMING_TIMEOUT is "soon"');
    expect(refusal({ SQL_DSN: "nonsense" })).toContain("SQL_DSN cannot be used");
  });

  test("may set a duration alone", () => {
    expect(loadEnv({ CRITICAL_RATE_LIMIT_DURATION: "60" }).limitCritical).toEqual({ count: 20, seconds: 60 });
  });
});
