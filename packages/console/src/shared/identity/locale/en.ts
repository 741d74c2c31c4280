export const en = {
  humanCheck: "Human check",
  humanCheckWait: "Please try again in a few seconds, Turnstile is checking the user environment!",
  humanCheckFailed: "The human check could not be loaded.",
  retryHumanCheck: "Try again",
  email: "E-mail",
  emailCode: "Code from the mail",
  sendCode: "Send a code",
  sendAgainIn: "Send again in {seconds} s",
  codeSent: "The code is on its way. Please check your mailbox.",
  telegramFailed: "The button of Telegram could not be loaded.",
  notAskedHere: "This sign-in was not begun in this tab. Please begin it here.",
  wechatPicture: "QR code of the WeChat account",
  wechatHelp:
    "Scan the code with WeChat, follow the account and send it “code”. What it answers is valid for three minutes.",
  wechatCode: "Verification code",
  wechatCodeMissing: "Please enter the verification code.",
} as const;
