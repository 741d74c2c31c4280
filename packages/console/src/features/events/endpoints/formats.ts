import type { WebhookFormat } from "@fairway/wire";

/** What the form of a format has. Texts are keys of this feature. */
interface FormatFields {
  readonly label:
    | "formatStandard"
    | "formatSlack"
    | "formatFeishu"
    | "formatLark"
    | "formatDingtalk"
    | "formatWecom"
    | "formatDiscord"
    | "formatTelegram"
    | "formatAlertmanager";
  readonly help:
    | "urlStandard"
    | "urlSlack"
    | "urlFeishu"
    | "urlDingtalk"
    | "urlWecom"
    | "urlDiscord"
    | "urlTelegram"
    | "urlAlertmanager";
  readonly example: string;
  /** The robot signs with a secret that its own program gives. */
  readonly hasSecret?: true;
  /** A bot that writes to one of many chats. */
  readonly hasChat?: true;
  /** People read the messages: they have a language, and several become one. */
  readonly isText: boolean;
}

export const FORMAT_FIELDS: Readonly<Record<WebhookFormat, FormatFields>> = {
  standard: {
    label: "formatStandard",
    help: "urlStandard",
    example: "https://hooks.example.com/fairway",
    isText: false,
  },
  slack: { label: "formatSlack", help: "urlSlack", example: "https://hooks.slack.com/services/…", isText: true },
  feishu: {
    label: "formatFeishu",
    help: "urlFeishu",
    example: "https://open.feishu.cn/open-apis/bot/v2/hook/…",
    hasSecret: true,
    isText: true,
  },
  lark: {
    label: "formatLark",
    help: "urlFeishu",
    example: "https://open.larksuite.com/open-apis/bot/v2/hook/…",
    hasSecret: true,
    isText: true,
  },
  dingtalk: {
    label: "formatDingtalk",
    help: "urlDingtalk",
    example: "https://oapi.dingtalk.com/robot/send?access_token=…",
    hasSecret: true,
    isText: true,
  },
  wecom: {
    label: "formatWecom",
    help: "urlWecom",
    example: "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…",
    isText: true,
  },
  discord: { label: "formatDiscord", help: "urlDiscord", example: "https://discord.com/api/webhooks/…", isText: true },
  telegram: {
    label: "formatTelegram",
    help: "urlTelegram",
    example: "https://api.telegram.org/bot…/sendMessage",
    hasChat: true,
    isText: true,
  },
  alertmanager: {
    label: "formatAlertmanager",
    help: "urlAlertmanager",
    example: "http://alertmanager:9093/api/v2/alerts",
    isText: false,
  },
};
