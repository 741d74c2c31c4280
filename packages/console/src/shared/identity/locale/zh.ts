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
  telegramFailed: "无法加载 Telegram 按钮。",
  notAskedHere: "此登录不是在此标签页发起的，请在此重新发起。",
  wechatPicture: "微信公众号二维码",
  wechatHelp: "用微信扫描二维码，关注公众号并发送“验证码”。收到的验证码三分钟内有效。",
  wechatCode: "验证码",
  wechatCodeMissing: "请输入验证码。",
};
