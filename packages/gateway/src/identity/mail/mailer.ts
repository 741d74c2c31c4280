import type { OptionValues } from "@fairway/wire";
import { createTransport } from "nodemailer";
import type SMTPTransport from "nodemailer/lib/smtp-transport/index.js";
import { isLoopback } from "../../lib/net/ip.ts";
import { parseEmail } from "./email-address.ts";

export interface Mail {
  /** Exactly one address. */
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly attachments?: readonly MailAttachment[];
}

export interface MailAttachment {
  readonly filename: string;
  readonly content: Buffer;
  readonly contentType: string;
}

/** Sends mail through the server that the options name. */
export interface Mailer {
  /** False while the options name no SMTP server. */
  isConfigured(): boolean;
  /** Sends a mail. Rejects if the server does not accept it. */
  send(mail: Mail): Promise<void>;
}

type MailOptions = Pick<
  OptionValues,
  "SMTPServer" | "SMTPPort" | "SMTPAccount" | "SMTPFrom" | "SMTPToken" | "SMTPSSLEnabled" | "SystemName"
>;

const TIMEOUT_MS = 10_000;
const TLS_PORT = 465;

export function createMailer(options: () => MailOptions): Mailer {
  return {
    isConfigured: () => options().SMTPServer !== "",
    async send({ to, subject, html, attachments = [] }) {
      const address = parseEmail(to);
      if (address === undefined) throw new Error("a mail needs exactly one address");
      const settings = options();
      const transport = createTransport(transportOptions(settings));
      const sender = settings.SMTPFrom === "" ? settings.SMTPAccount : settings.SMTPFrom;
      try {
        await transport.sendMail({
          from: { name: oneLine(settings.SystemName), address: sender },
          to: { name: "", address },
          envelope: { from: sender, to: [address] },
          subject: oneLine(subject),
          html,
          attachments: attachments.map((one) => ({ ...one })),
        });
      } finally {
        transport.close();
      }
    },
  };
}

/** Uses TLS from the start, or else STARTTLS; a password is sent over a plain connection only to this machine. */
export function transportOptions(settings: MailOptions): SMTPTransport.Options {
  const { SMTPServer: host, SMTPPort: port, SMTPAccount: user, SMTPToken: pass } = settings;
  const secure = port === TLS_PORT || settings.SMTPSSLEnabled;
  const auth = user !== "" && pass !== "" ? { auth: { user, pass } } : {};
  const isLogin = /outlook|onmicrosoft/i.test(user) || host.toLowerCase() === "smtp.azurecomm.net";
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  return {
    host,
    port,
    secure,
    ...auth,
    ...timeouts,
    ...("auth" in auth ? { authMethod: isLogin ? "LOGIN" : "PLAIN", requireTLS: !secure && !isLoopback(host) } : {}),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, " ");
}
