// What a person reads when the provider, or another service, refuses the sign-in.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startCompany, type Company } from "../../../test/kit/company.ts";

let company: Company;

beforeAll(async () => {
  company = await startCompany();
});
afterAll(() => company.close());
beforeEach(async () => {
  company.oidc.refusal = undefined;
  await company.setUp();
});

const NOT_ASSIGNED = "User is not assigned to the client application.";

describe("a provider that refuses a sign-in", () => {
  test("is quoted", async () => {
    company.oidc.refusal = { error: "access_denied", error_description: NOT_ASSIGNED };
    const { reply } = await company.signIn();
    expect(reply.body).toMatchObject({ code: "O8", message: `Acme did not sign you in: ${NOT_ASSIGNED}` });
  });

  // @weakness Injection and parsing: A link puts a stranger's words on the page of the gateway
  test("is not quoted when the browser was not sent there, nor twice", async () => {
    const caller = company.app.anonymous();
    const words = "/api/oauth/acme?error=access_denied&error_description=Call+0800";
    expect((await caller.get(`${words}&state=x`)).body).toMatchObject({ code: "O1" });
    company.oidc.refusal = { error: "access_denied", error_description: NOT_ASSIGNED };
    const { url } = await caller.data<{ url: string }>(caller.get("/api/oauth/start?service=acme"));
    const query = await company.oidc.visit(url);
    expect((await caller.get(`/api/oauth/acme?${query.toString()}`)).body).toMatchObject({ code: "O8" });
    expect((await caller.get(`/api/oauth/acme?${query.toString()}`)).body).toMatchObject({ code: "O1" });
  });

  test.each([
    ["error=login_required", "login_required"],
    ["error=e&error_description=a%0A%E2%80%AEb", "a b"],
    [`error=e&error_description=${"x".repeat(5_000)}`, "x".repeat(300)],
  ])("is quoted in one short line: %s", async (query, reason) => {
    const caller = company.app.anonymous();
    const { url } = await caller.data<{ url: string }>(caller.get("/api/oauth/start?service=acme"));
    const state = new URL(url).searchParams.get("state");
    const reply = await caller.get(`/api/oauth/acme?state=${state}&${query}`);
    expect(reply.body).toMatchObject({ code: "O8", message: `Acme did not sign you in: ${reason}` });
  });

  test("and so is another service", async () => {
    await company.app.database.db.insertInto("options").values({ key: "GitHubOAuthEnabled", value: "true" }).execute();
    await company.app.snapshots.refresh();
    const caller = company.app.anonymous();
    const state = await caller.data<string>(caller.get("/api/oauth/state"));
    const reply = await caller.get(`/api/oauth/github?state=${state}&error=access_denied`);
    expect(reply.body).toMatchObject({ code: "O8", message: "GitHub did not sign you in: access_denied" });
  });
});

test.each([
  ["in the body", "client_secret_post"],
  ["in the header", "client_secret_basic"],
])("a wrong secret %s is the matter of an administrator, and says so", async (_where, auth_method) => {
  await company.setUp({ auth_method, secret: "wrong" });
  const { reply } = await company.signIn();
  expect(reply.body).toMatchObject({
    code: "O9",
    message: "Acme does not accept the client id or the secret of this gateway. Ask an administrator to correct them.",
  });
});
