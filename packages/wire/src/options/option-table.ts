import { ALL_RATIOS_1, count, flag, option, positive, text } from "./option-definition.ts";
import {
  chatsType,
  choiceType,
  commaListType,
  integerType,
  linesType,
  linkType,
  nameType,
  numberType,
  ratiosType,
  textType,
  urlType,
  wordsType,
} from "./option-kinds.ts";
import { BATCH_PRICE_OPTIONS } from "./option-table-batch-prices.ts";
import { CALL_OPTIONS } from "./option-table-calls.ts";
import { EVENT_OPTIONS } from "./option-table-events.ts";
import { FILE_OPTIONS } from "./option-table-files.ts";
import { TAG_OPTIONS } from "./option-table-tags.ts";
import { TEAM_OPTIONS } from "./option-table-teams.ts";

const html = textType("long-text");
const url = urlType;

const MAIL_DOMAINS = "gmail.com,163.com,126.com,qq.com,outlook.com,hotmail.com,icloud.com,yahoo.com,foxmail.com";
const DISABLE_PHRASES = [
  "Your credit balance is too low",
  "This organization has been disabled.",
  "You exceeded your current quota",
  "Permission denied",
  "The security token included in the request is invalid",
  "Operation not allowed",
  "Your account is not authorized",
].join("\n");
const CHATS = JSON.stringify([
  { NextChat: 'https://app.nextchat.dev/#/?settings={"key":"{key}","url":"{address}"}' },
  { AMA: "ama://set-api-key?server={address}&key={key}" },
  { OpenCat: "opencat://team/join?domain={address}&token={key}" },
]);

const STRIPE_CURRENCIES = (
  "usd eur gbp cny hkd jpy krw sgd aud cad chf nzd twd inr brl mxn thb idr myr php vnd sek nok dkk pln czk huf ron try " +
  "zar aed sar ils"
).split(" ");

/** Every option that an operator can change at run time, by its name in the database. */
export const OPTIONS = {
  PasswordLoginEnabled: option(flag, "true", ["login", "Accounts may sign in with a password."], {
    shownAs: "password_login_enabled",
  }),
  PasswordRegisterEnabled: option(flag, "true", ["login", "New accounts may be made with a password."], {
    shownAs: "password_register_enabled",
  }),
  EmailVerificationEnabled: option(
    flag,
    "false",
    ["login", "Registration requires an e-mail address and a code sent to it."],
    { shownAs: "email_verification" },
  ),
  RegisterEnabled: option(flag, "true", ["login", "New accounts may be made at all, also through sign-in services."], {
    shownAs: "register_enabled",
  }),
  EmailDomainRestrictionEnabled: option(
    flag,
    "false",
    ["domains", "Only addresses of the allowed domains get a code."],
    { needs: ["EmailDomainWhitelist"], needsMessage: "email_domains_not_configured" },
  ),
  EmailAliasRestrictionEnabled: option(flag, "false", ["domains", "Addresses with + or . before the @ get no code."]),
  EmailDomainWhitelist: option(commaListType, MAIL_DOMAINS, ["domains", "Allowed e-mail domains."]),
  GitHubOAuthEnabled: option(flag, "false", ["github", "Accounts may sign in with GitHub."], {
    shownAs: "github_oauth",
    needs: ["GitHubClientId", "GitHubClientSecret"],
    needsMessage: "github_not_configured",
  }),
  GitHubClientId: option(text, "", ["github", "Client id of the GitHub OAuth app."], { shownAs: "github_client_id" }),
  GitHubClientSecret: option(text, "", ["github", "Client secret of the GitHub OAuth app."]),
  WeChatAuthEnabled: option(flag, "false", ["wechat", "Accounts may sign in with WeChat."], {
    shownAs: "wechat_login",
    needs: ["WeChatServerAddress"],
    needsMessage: "wechat_not_configured",
  }),
  WeChatServerAddress: option(url, "", ["wechat", "Address of the WeChat server."]),
  WeChatServerToken: option(text, "", ["wechat", "Access token of the WeChat server."]),
  WeChatAccountQRCodeImageURL: option(url, "", ["wechat", "Image of the account's QR code."], {
    shownAs: "wechat_qrcode",
  }),
  TelegramOAuthEnabled: option(flag, "false", ["telegram", "Accounts may sign in with Telegram."], {
    shownAs: "telegram_oauth",
    needs: ["TelegramBotToken", "TelegramBotName"],
    needsMessage: "telegram_not_configured",
  }),
  TelegramBotToken: option(text, "", ["telegram", "Token of the Telegram bot."]),
  TelegramBotName: option(text, "", ["telegram", "Name of the Telegram bot."], { shownAs: "telegram_bot_name" }),
  TurnstileCheckEnabled: option(
    flag,
    "false",
    ["human-check", "Sign-in, registration and mails ask for a Turnstile check."],
    {
      shownAs: "turnstile_check",
      needs: ["TurnstileSiteKey", "TurnstileSecretKey"],
      needsMessage: "turnstile_not_configured",
    },
  ),
  TurnstileSiteKey: option(text, "", ["human-check", "Site key of the Turnstile widget."], {
    shownAs: "turnstile_site_key",
  }),
  TurnstileSecretKey: option(text, "", ["human-check", "Secret key for the Turnstile service."]),
  SMTPServer: option(text, "", ["mail", "Host of the SMTP server."]),
  SMTPPort: option(integerType(1, 65_535), "587", ["mail", "Port of the SMTP server."]),
  SMTPAccount: option(text, "", ["mail", "Account at the SMTP server."]),
  SMTPFrom: option(text, "", ["mail", "Sender address; empty means the account."]),
  SMTPToken: option(text, "", ["mail", "Password of the SMTP account."]),
  SMTPSSLEnabled: option(flag, "false", ["mail", "TLS from the first byte, as on port 465."]),
  ServerAddress: option(url, "", ["server", "Public address of this server, used in mails and payment links."]),
  WorkerUrl: option(url, "", ["worker", "Worker that downloads images for the gateway."]),
  WorkerValidKey: option(text, "", ["worker", "Key that is sent to the worker."]),
  PayAddress: option(url, "", ["payment", "Address of the payment provider."], {
    needs: ["ServerAddress"],
    needsMessage: "server_address_missing",
  }),
  EpayId: option(text, "", ["payment", "Merchant id at the payment provider."]),
  EpayKey: option(text, "", ["payment", "Merchant key at the payment provider."]),
  CustomCallbackAddress: option(url, "", ["payment", "Address for payment notices; empty means the server address."]),
  Price: option(numberType("above 0"), "7.3", ["payment", "Price of one dollar of quota in the payment currency."], {
    shownAs: "price",
  }),
  MinTopUp: option(positive, "1", ["payment", "Smallest amount of a top-up."], { shownAs: "min_topup" }),
  TopupGroupRatio: option(ratiosType("topup_ratio_json_invalid"), ALL_RATIOS_1, [
    "payment",
    "Price multiplier of top-ups by user group.",
  ]),
  StripeApiUrl: option(url, "https://api.stripe.com", ["payment", "Address of the card payment provider's API."]),
  StripeSecretKey: option(text, "", ["payment", "Secret key of the card payment provider."]),
  StripeWebhookSecret: option(text, "", ["payment", "Secret that signs the card payment provider's events."]),
  StripeCurrency: option(choiceType(STRIPE_CURRENCIES, "a three-letter currency of the card payment provider"), "usd", [
    "payment",
    "Currency of card payments.",
  ]),
  StripePrice: option(numberType("above 0"), "1", [
    "payment",
    "Price of one dollar of quota in the currency of card payments.",
  ]),
  Notice: option(html, "", ["content", "Announcement, Markdown."]),
  SystemName: option(nameType(64), "Fairway", ["content", "Name of this system."], { shownAs: "system_name" }),
  Logo: option(text, "", ["content", "Address of the logo image."], { shownAs: "logo" }),
  Footer: option(html, "", ["content", "Footer, HTML."], { shownAs: "footer_html" }),
  About: option(html, "", ["content", "About page: HTML, Markdown or an address to frame."]),
  HomePageContent: option(html, "", ["content", "Home page: HTML, Markdown or an address to frame."]),
  TopUpLink: option(url, "", ["general", "Shop that sells redemption codes."], { shownAs: "top_up_link" }),
  ChatLink: option(linkType, "", ["general", "Chat client that tokens can be opened in."], { shownAs: "chat_link" }),
  ChatLink2: option(linkType, "", ["general", "Second chat client."], { shownAs: "chat_link2" }),
  Chats: option(
    chatsType,
    CHATS,
    ["general", "External clients in the token menu: label to link with {key} and {address}."],
    { shownAs: "chats" },
  ),
  QuotaPerUnit: option(numberType("above 0"), "500000", ["general", "Quota units that make one dollar."], {
    shownAs: "quota_per_unit",
  }),
  RetryTimes: option(count, "0", ["relay", "Further channels that are tried after a failure."]),
  RetrySameLevel: option(flag, "true", [
    "relay",
    "Retries use the other channels of a priority before they go to a lower one.",
  ]),
  DisplayInCurrencyEnabled: option(flag, "true", ["general", "Quota is shown in dollars."], {
    shownAs: "display_in_currency",
  }),
  DisplayTokenStatEnabled: option(flag, "true", [
    "general",
    "Billing calls of a key report the key and not its owner.",
  ]),
  DefaultCollapseSidebar: option(flag, "false", ["general", "The sidebar starts collapsed."], {
    shownAs: "default_collapse_sidebar",
  }),
  DrawingEnabled: option(flag, "true", ["drawing", "Drawing is offered."], { shownAs: "enable_drawing" }),
  TaskEnabled: option(flag, "true", ["drawing", "Asynchronous tasks are offered."], { shownAs: "enable_task" }),
  MjNotifyEnabled: option(
    flag,
    "false",
    ["drawing", "Notices of drawing services are accepted; this shows them the server's address."],
    { shownAs: "mj_notify_enabled" },
  ),
  MjAccountFilterEnabled: option(flag, "false", ["drawing", "Clients may choose the drawing account."]),
  MjForwardUrlEnabled: option(flag, "true", ["drawing", "Drawing images are loaded through this server."]),
  AllowUnsignedMjImages: option(flag, "false", [
    "drawing",
    "Anyone who knows the number of a drawing may load it, so that links of an earlier gateway work.",
  ]),
  MjModeClearEnabled: option(flag, "false", ["drawing", "The flags --fast, --relax and --turbo are cut from prompts."]),
  MjActionCheckSuccessEnabled: option(flag, "true", ["drawing", "Follow-up actions need a drawing that succeeded."]),
  CheckSensitiveEnabled: option(flag, "true", ["words", "Blocked words are looked for."]),
  CheckSensitiveOnPromptEnabled: option(flag, "true", ["words", "Prompts with blocked words are refused."]),
  SensitiveWords: option(wordsType, "test_sensitive", ["words", "Blocked words, one per line, up to 4 MiB."]),
  GuardrailEnabled: option(flag, "false", ["words", "A webhook judges prompts and answers."], {
    needs: ["GuardrailUrl", "GuardrailSecret", "GuardrailOnFailure"],
    needsMessage: "guardrail_not_configured",
  }),
  GuardrailUrl: option(url, "", ["words", "Address of the webhook that judges; it may be in a private network."]),
  GuardrailSecret: option(text, "", ["words", "Secret that signs the calls of the webhook."]),
  GuardrailOnFailure: option(choiceType(["", "allow", "block"], "allow or block"), "", [
    "words",
    "What happens when the webhook does not answer: allow or block.",
  ]),
  GuardrailPhases: option(choiceType(["both", "prompt", "answer"], "both, prompt or answer"), "both", [
    "words",
    "What the webhook judges: both, prompt or answer.",
  ]),
  GuardrailGroups: option(linesType, "", ["words", "Groups whose requests are judged, one per line; empty means all."]),
  GuardrailModels: option(linesType, "", [
    "words",
    "Models whose requests are judged, one per line, * at the end stands for anything; empty means all.",
  ]),
  GuardrailTimeoutMs: option(integerType(50, 10_000), "3000", [
    "words",
    "Milliseconds that the webhook may take for one verdict.",
  ]),
  GuardrailStreamChars: option(integerType(1, 100_000), "400", [
    "words",
    "Characters of a streamed answer that are held back and judged together.",
  ]),
  GuardrailStreamMs: option(integerType(10, 30_000), "1000", [
    "words",
    "Milliseconds after which fewer characters of a streamed answer are judged.",
  ]),
  ...EVENT_OPTIONS,
  LeakReports: option(choiceType(["off", "hmac", "github"], "off, hmac or github"), "off", [
    "monitoring",
    "Who may report leaked keys: off, hmac (your own scanner, with LeakSecret) or github.",
  ]),
  LeakSecret: option(text, "", ["monitoring", "Secret with which your own scanner signs its reports of leaked keys."]),
  LeakGithubUrl: option(url, "https://api.github.com", [
    "monitoring",
    "Address of the API that has the public keys for reports of leaked keys.",
  ]),
  LeakAction: option(choiceType(["disable", "rotate", "notify"], "disable, rotate or notify"), "disable", [
    "monitoring",
    "What happens to a leaked key: disable ends it at once, rotate after an hour, notify leaves it.",
  ]),
  LogRetentionDays: option(count, "0", ["logs", "Days after which log rows are deleted; 0 keeps them for ever."]),
  LogConsumeEnabled: option(flag, "true", ["logs", "Each request writes a consumption log."]),
  ErrorLogEnabled: option(flag, "true", ["logs", "Each failed call of a known user writes an error log."]),
  ErrorLogPerMinute: option(count, "60", [
    "logs",
    "Error logs of one token and one code in a minute, one more has the number of the rest; 0 writes all.",
  ]),
  ErrorLogRetentionDays: option(count, "30", [
    "logs",
    "Days after which error logs are deleted; 0 keeps them as long as other rows.",
  ]),
  KubernetesPaused: option(flag, "false", [
    "server",
    "Custom resources of Kubernetes are left alone: no change of them reaches the gateway.",
  ]),
  DataExportEnabled: option(flag, "true", ["dashboard", "Usage is summed up for the dashboard."], {
    shownAs: "enable_data_export",
  }),
  DataExportInterval: option(positive, "5", ["dashboard", "Minutes between two updates of the sums."]),
  DataExportDefaultTime: option(
    choiceType(["hour", "day", "week"], "hour, day or week"),
    "hour",
    ["dashboard", "First time step of the charts."],
    { shownAs: "data_export_default_time" },
  ),
  ChannelDisableThreshold: option(numberType("not below 0"), "5", [
    "monitoring",
    "Seconds after which a channel test counts as failed; 0 is off.",
  ]),
  QuotaRemindThreshold: option(count, "1000", ["monitoring", "Balance below which its owner gets a mail."]),
  AutomaticDisableChannelEnabled: option(flag, "false", [
    "monitoring",
    "Channels whose account fails are switched off.",
  ]),
  AutomaticEnableChannelEnabled: option(flag, "false", [
    "monitoring",
    "Channels that were switched off come back after a good test.",
  ]),
  AutomaticDisableKeywords: option(linesType, DISABLE_PHRASES, [
    "monitoring",
    "Upstream messages that switch a channel off, one per line.",
  ]),
  ...CALL_OPTIONS,
  ...FILE_OPTIONS,
  ...TEAM_OPTIONS,
  ...TAG_OPTIONS,
  ...BATCH_PRICE_OPTIONS,
  SelfUseModeEnabled: option(flag, "false", ["general", "For a single owner: models without a price are served."], {
    shownAs: "self_use_mode_enabled",
  }),
  DemoSiteEnabled: option(flag, "false", ["general", "Marks this installation as a demonstration."], {
    shownAs: "demo_site_enabled",
  }),
  LinuxDOOAuthEnabled: option(flag, "false", ["linuxdo", "Accounts may sign in with LINUX DO."], {
    shownAs: "linuxdo_oauth",
    needs: ["LinuxDOClientId", "LinuxDOClientSecret"],
    needsMessage: "sign_in_service_not_configured",
  }),
  LinuxDOClientId: option(text, "", ["linuxdo", "Client id at LINUX DO."], { shownAs: "linuxdo_client_id" }),
  LinuxDOClientSecret: option(text, "", ["linuxdo", "Client secret at LINUX DO."]),
  "oidc.enabled": option(flag, "false", ["oidc", "Accounts may sign in with OpenID Connect."], {
    shownAs: "oidc_enabled",
    needs: ["oidc.client_id", "oidc.client_secret"],
    needsMessage: "sign_in_service_not_configured",
  }),
  "oidc.client_id": option(text, "", ["oidc", "Client id at the OpenID provider."], { shownAs: "oidc_client_id" }),
  "oidc.client_secret": option(text, "", ["oidc", "Client secret at the OpenID provider."]),
  "oidc.well_known": option(url, "", ["oidc", "Discovery address of the OpenID provider."]),
  "oidc.authorization_endpoint": option(url, "", ["oidc", "Address that users are sent to."], {
    shownAs: "oidc_authorization_endpoint",
  }),
  "oidc.token_endpoint": option(url, "", ["oidc", "Address that codes are exchanged at."]),
  "oidc.user_info_endpoint": option(url, "", ["oidc", "Address that describes the account."]),
  "general_setting.docs_link": option(url, "", ["general", "Documentation that the console links to."], {
    shownAs: "docs_link",
  }),
} as const;
