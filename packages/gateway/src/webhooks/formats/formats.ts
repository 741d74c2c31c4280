import { ALERTMANAGER } from "./alertmanager.ts";
import { DINGTALK } from "./dingtalk.ts";
import { DISCORD } from "./discord.ts";
import { FEISHU, LARK } from "./feishu.ts";
import type { Format } from "./format.ts";
import { MAIL } from "./mail.ts";
import { SLACK } from "./slack.ts";
import { STANDARD } from "./standard.ts";
import { TELEGRAM } from "./telegram.ts";
import { WECOM } from "./wecom.ts";
import type { EndpointFormat } from "../types.ts";

export const FORMATS: Readonly<Record<EndpointFormat, Format>> = {
  standard: STANDARD,
  slack: SLACK,
  feishu: FEISHU,
  lark: LARK,
  dingtalk: DINGTALK,
  wecom: WECOM,
  discord: DISCORD,
  telegram: TELEGRAM,
  alertmanager: ALERTMANAGER,
  mail: MAIL,
};
