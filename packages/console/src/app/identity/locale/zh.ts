import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  humanCheck: "人机验证",
  humanCheckWait: "请稍后几秒重试，Turnstile 正在检查用户环境！",
  humanCheckFailed: "无法加载人机验证。",
  retryHumanCheck: "重试",
  email: "邮箱",
  emailCode: "邮件中的验证码",
  sendCode: "发送验证码",
  sendAgainIn: "{seconds} 秒后可重新发送",
  codeSent: "验证码已发送，请查收邮件。",
};
