import { parseOptions, type OptionRow } from "@fairway/wire";
import { startMailServer } from "@fairway/testkit/smtp";
import { describe, expect, it } from "vitest";
import { createMailer, transportOptions } from "./mailer.ts";
import { codeMail, escapeHtml, resetLink, resetMail } from "./messages.ts";

const settings = (...rows: [string, string][]) => parseOptions(rows.map(([key, value]): OptionRow => ({ key, value })));

describe("the way to the mail server", () => {
  it("is TLS from the start on port 465 or where the option says so", () => {
    expect(transportOptions(settings(["SMTPServer", "mx.example"], ["SMTPPort", "465"]))).toMatchObject({
      secure: true,
    });
    expect(transportOptions(settings(["SMTPServer", "mx.example"], ["SMTPSSLEnabled", "true"]))).toMatchObject({
      secure: true,
    });
    expect(transportOptions(settings(["SMTPServer", "mx.example"]))).toMatchObject({ secure: false, port: 587 });
  });

  // @weakness Injection and parsing: The password of the mail server goes over the wire in clear
  it("never carries a password in clear, but to this machine", () => {
    const account: [string, string][] = [
      ["SMTPAccount", "gate@example.com"],
      ["SMTPToken", "secret"],
    ];
    expect(transportOptions(settings(["SMTPServer", "mx.example"], ...account))).toMatchObject({
      requireTLS: true,
      authMethod: "PLAIN",
    });
    expect(transportOptions(settings(["SMTPServer", "127.0.0.1"], ...account))).toMatchObject({ requireTLS: false });
    expect(transportOptions(settings(["SMTPServer", "mx.example"]))).not.toHaveProperty("auth");
  });

  it("signs in by LOGIN where PLAIN is not known", () => {
    const login = (server: string, account: string) =>
      transportOptions(settings(["SMTPServer", server], ["SMTPAccount", account], ["SMTPToken", "x"])).authMethod;
    expect(login("smtp.office365.com", "me@company.onmicrosoft.com")).toBe("LOGIN");
    expect(login("smtp-mail.outlook.com", "me@outlook.com")).toBe("LOGIN");
    expect(login("smtp.azurecomm.net", "me")).toBe("LOGIN");
    expect(login("mx.example", "me@example.com")).toBe("PLAIN");
  });
});

describe("mails", () => {
  // @weakness Injection and parsing: Texts put markup into mails
  it("escape what is put in", () => {
    expect(escapeHtml(`<a href="x">'&`)).toBe("&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
    expect(codeMail("a@example.com", "<b>", "abc").html).toContain("&lt;b&gt;");
    const link = resetLink("https://gw.example", "a+b&c@example.com", "t&k");
    expect(link).toBe("https://gw.example/user/reset?email=a%2Bb%26c%40example.com&token=t%26k");
    expect(resetMail("a@example.com", "Gate", link).html).toContain("token=t%26k</a>");
  });

  // @weakness Injection and parsing: An address adds recipients
  it("go to exactly one address, with the sender of the options, in one line each", async () => {
    const server = await startMailServer();
    const options = settings(
      ["SMTPServer", "127.0.0.1"],
      ["SMTPPort", String(server.port)],
      ["SMTPAccount", "account@example.com"],
      ["SMTPFrom", "from@example.com"],
      ["SystemName", "Büro"],
    );
    const mailer = createMailer(() => options);
    expect(mailer.isConfigured()).toBe(true);
    await mailer.send({ to: "ann@example.com", subject: "Hi\r\nBcc: eve@example.com", html: "<p>ü</p>" });
    for (const to of ["ann@example.com,eve@example.com", "ann@example.com;eve@example.com", "nobody"]) {
      await expect(mailer.send({ to, subject: "x", html: "" })).rejects.toThrow("exactly one");
    }
    expect(server.mails).toHaveLength(1);
    const [mail] = server.mails;
    expect(mail).toMatchObject({ from: "from@example.com", to: ["ann@example.com"] });
    expect(mail?.text).toMatch(/^From: =\?UTF-8\?.*\?= <from@example\.com>\r$/m);
    expect(mail?.text).toMatch(/^Subject: Hi Bcc: eve@example\.com\r$/m);
    expect(mail?.text).not.toMatch(/^Bcc:/m);
    expect(mail?.text).toMatch(/^Message-ID: </m);
    expect(mail?.text).toMatch(/^Date: /m);
    await server.close();
  });

  it("are not sent while no server is named", () => {
    expect(createMailer(() => settings()).isConfigured()).toBe(false);
  });
});
