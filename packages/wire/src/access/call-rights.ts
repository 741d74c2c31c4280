import { EVENT_CALL_RIGHTS } from "./event-call-rights.ts";
import { destroy, read, spend, write, type Areas, type CallRights } from "./rights.ts";
import { SCOPE_AREAS } from "./scopes.ts";
import { TEAM_CALL_RIGHTS } from "./team-call-rights.ts";

/** The call needs no sign-in. */
const OPEN: Areas = [];
/** The response contains rows of every kind. */
const ALL: Areas = SCOPE_AREAS;
const ANY: Areas = "any";
/** The areas of resources that documents describe. */
const DOCUMENTS: Areas = ["channels", "tokens", "billing", "settings"];

/**
 * Every call of the management API by name: what it does, the parts of the API that it belongs to, and the proof that
 * it requires. The gateway refuses to start if a call is missing here. A change of a password requires its proof in the
 * handler (`selfUpdate`, `userUpdate`), because other changes by the same call need none.
 */
export const CALL_RIGHTS: Readonly<Record<string, CallRights>> = {
  ...EVENT_CALL_RIGHTS,
  ...TEAM_CALL_RIGHTS,
  // /api/about
  about: read(OPEN),
  // /api/audit
  auditList: read(ALL),
  // /api/batch
  batchList: read("tasks"),
  batchListSelf: read("tasks"),
  batchReserve: read("tasks"),
  batchTotals: read("tasks"),
  batchTotalsSelf: read("tasks"),
  batchGet: read("tasks"),
  batchItem: read("tasks"),
  batchCancel: destroy("tasks"),
  batchSettle: write("tasks"),
  batchAbandon: destroy("tasks"),
  // /api/budget
  budgetCreate: write("billing"),
  budgetList: read("billing"),
  budgetUpdate: write("billing"),
  budgetReset: write("billing"),
  budgetValues: read("billing"),
  budgetListSelf: read("billing"),
  budgetHistorySelf: read("billing"),
  ownBudgetCreate: write("billing"),
  ownBudgetUpdate: write("billing"),
  ownBudgetReset: write("billing"),
  ownBudgetValues: read("billing"),
  ownBudgetDelete: destroy("billing"),
  budgetDelete: destroy("billing"),
  budgetGet: read("billing"),
  budgetHistory: read("billing"),
  // /api/channel
  channelCreate: write("channels"),
  channelList: read("channels"),
  channelUpdate: write("channels"),
  channelBatchDelete: destroy("channels"),
  channelBatchTag: write("channels"),
  channelBulk: destroy("channels"),
  channelBetas: spend("channels"),
  channelFilters: read("channels"),
  channelFiltersForget: write("channels"),
  channelCopyAs: write("channels"),
  channelDeleteDisabled: destroy("channels"),
  channelModelsFor: spend("channels"),
  channelLocalServers: read("channels"),
  channelModelsOf: spend("channels"),
  channelFix: write("channels"),
  channelHealth: read("channels"),
  pauseCreate: write("channels"),
  pauseList: read("channels"),
  pauseResume: write("channels"),
  channelCatalogue: read("channels"),
  channelModelsEnabled: read("channels"),
  channelMultiKey: destroy("channels"),
  channelProbe: spend("channels"),
  channelSearch: read("channels"),
  channelTagUpdate: write("channels"),
  channelTagDisable: write("channels"),
  channelTagEnable: write("channels"),
  channelTagModels: read("channels"),
  channelTestAll: spend("channels"),
  channelTest: spend("channels"),
  channelTypes: read("channels"),
  channelBalanceAll: spend("channels"),
  channelBalance: spend("channels"),
  channelDelete: destroy("channels"),
  channelGet: read("channels"),
  channelCopy: write("channels"),
  channelKeySwitch: write("channels"),
  channelKeyAdd: write("channels"),
  channelKeyDelete: destroy("channels"),
  channelObjects: read("channels"),
  channelObjectsRebind: write("channels"),
  channelKeys: read("channels"),
  // /api/data
  usageAll: read("logs"),
  usageSelf: read("logs"),
  cacheUsage: read("logs"),
  cacheUsageSelf: read("logs"),
  // /api/declarative
  declarativeApply: destroy(DOCUMENTS),
  declarativeExport: read(DOCUMENTS),
  declarativeManaged: read("settings"),
  declarativePlan: write(DOCUMENTS),
  // /api/cache
  cacheList: read("tasks"),
  cacheListSelf: read("tasks"),
  cacheGet: read("tasks"),
  cacheDelete: destroy("tasks"),
  // /api/file
  fileList: read("tasks"),
  fileListSelf: read("tasks"),
  fileUsage: read("tasks"),
  fileDelete: destroy("tasks"),
  // /api/group
  groupList: read("channels"),
  // /api/home_page_content
  homePage: read(OPEN),
  // /api/identity
  identityDiscover: read(OPEN),
  // /api/identity_provider
  identityProviderCreate: write("settings", "fresh"),
  identityProviderList: read("settings"),
  identityProviderGet: read("settings"),
  identityProviderUpdate: write("settings", "fresh"),
  identityProviderDelete: destroy("settings", "fresh"),
  identityProviderTest: write("settings"),
  identityProviderIdentities: read("settings"),
  identityProviderScimToken: write("settings", "fresh"),
  identityProviderScimTokenDelete: destroy("settings", "fresh"),
  // /api/import
  litellmImport: write(["channels", "users", "tokens", "billing", "settings"]),
  pricesImport: write("settings"),
  importRunList: read("settings"),
  importRunGet: read("settings"),
  importDatabaseStart: write(["channels", "users", "tokens", "billing", "settings"], "fresh"),
  importConfigStart: write(["channels", "users", "tokens", "billing", "settings"], "fresh"),
  importServerStart: write(["channels", "users", "tokens", "billing", "settings"], "fresh"),
  // /api/job
  jobList: read("settings"),
  jobGet: read("settings"),
  // /api/log
  logClear: destroy("logs"),
  logList: read("logs"),
  logExport: read("logs"),
  logFacets: read("logs"),
  logHistogram: read("logs"),
  logSearch: read("logs"),
  logListSelf: read("logs"),
  logExportSelf: read("logs"),
  logFacetsSelf: read("logs"),
  logHistogramSelf: read("logs"),
  logSearchSelf: read("logs"),
  logStatSelf: read("logs"),
  logTailSelf: read("logs"),
  logGetSelf: read("logs"),
  logExplainSelf: read("logs"),
  logStat: read("logs"),
  logTail: read("logs"),
  logOfToken: read(OPEN),
  logGet: read("logs"),
  logExplain: read("logs"),
  // /api/mj
  drawingList: read("tasks"),
  drawingListSelf: read("tasks"),
  // /api/models
  modelsByType: read("channels"),
  // /api/notice
  notice: read(OPEN),
  // /api/oauth
  bindEmail: write("account", "fresh"),
  oauthGithub: write(OPEN),
  oauthLinuxdo: write(OPEN),
  oauthOidc: write(OPEN),
  oauthBackchannel: write(OPEN),
  oauthProvider: write(OPEN),
  oauthStart: write(OPEN),
  oauthState: write(OPEN),
  oauthTelegramBind: write("account", "fresh"),
  oauthTelegram: write(OPEN),
  oauthWechat: write(OPEN),
  oauthWechatBind: write("account", "fresh"),
  // /api/openapi.json
  openApi: read(OPEN),
  // /api/option
  optionList: read("settings"),
  optionUpdate: write("settings"),
  optionBatch: write("settings"),
  optionHistory: read("settings"),
  optionPrices: read("settings"),
  optionReset: destroy("settings"),

  // /api/price
  pricePlanList: read("settings"),
  pricePlanCreate: write("settings"),
  pricePlanCancel: write("settings"),
  pricePreview: read("settings"),
  // /api/pricing
  pricingList: read("account"),
  pricingExplain: read("settings"),
  // /api/redemption
  redemptionCreate: write("billing"),
  redemptionList: read("billing"),
  redemptionSetStatus: write("billing"),
  redemptionUpdate: write("billing"),
  redemptionDeleteInvalid: destroy("billing"),
  redemptionSearch: read("billing"),
  redemptionDelete: destroy("billing"),
  redemptionGet: read("billing"),
  // /api/reset_password
  sendResetLink: write(OPEN),
  // /api/search
  searchAll: read(ANY),
  // /api/setup
  setup: write(OPEN),
  setupState: read(OPEN),
  // /api/statistics
  usageForecast: read("logs"),
  usageRecent: read("logs"),
  usageRecentSelf: read("logs"),
  reportUsage: read("logs"),
  reportUsageSelf: read("logs"),
  savedReportList: read("logs"),
  savedReportCreate: write("logs"),
  savedReportUpdate: write("logs"),
  savedReportDelete: destroy("logs"),
  savedReportRun: read("logs"),
  usageStatisticsSelf: read("logs"),
  usageStatistics: read("logs"),
  // /api/status
  status: read(OPEN),
  statusTest: read("settings"),
  // /api/stripe
  stripeWebhook: write(OPEN),
  // /api/system
  systemInfo: read("settings"),
  systemStepDown: write("settings"),
  systemReplicas: read("settings"),
  // /api/task
  taskList: read("tasks"),
  taskListSelf: read("tasks"),
  // /api/token
  tokenCreate: write("tokens"),
  tokenList: read("tokens"),
  tokenMove: write(["tokens", "teams"]),
  tokenSetStatus: write("tokens"),
  tokenUpdate: write("tokens"),
  tokenBatchDelete: destroy("tokens"),
  tokenKeys: write("tokens"),
  tokenSearch: read("tokens"),
  tokenDelete: destroy("tokens"),
  tokenGet: read("tokens"),
  tokenActivity: read(["tokens", "logs"]),
  tokenFacts: read("tokens"),
  tokenFind: read("tokens"),
  tokenKey: write("tokens"),
  tokenOldKeys: read("tokens"),
  tokenOldKeyEnd: destroy("tokens"),
  tokenOfUserSetStatus: write("tokens"),
  tokenOfUserRotate: write("tokens"),
  tokenRotate: write("tokens"),
  // /api/leak
  leakReport: write(OPEN),
  // /api/topup
  userTopUp: write("billing"),
  // /api/usage
  tokenUsage: read(OPEN),
  // /api/user
  userCreate: write("users"),
  userList: read("users"),
  userUpdate: write("users"),
  compatibleFactorCodes: write("account", "session"),
  compatibleFactorDisable: destroy("account", "session"),
  compatibleFactorState: read("account"),
  selfInviteCode: write("account"),
  selfInviteTransfer: write("account"),
  walletAmount: write("account"),
  compatibleSelfModels: read("account"),
  walletNotice: read(OPEN),
  walletNoticeForm: write(OPEN),
  usableGroups: read("account"),
  login: write(OPEN),
  loginSecondFactor: write(OPEN),
  logout: write(OPEN),
  logoutByPost: write(OPEN),
  userManage: destroy("users"),
  selfModels: read("account"),
  compatiblePasskeyDelete: destroy("account", "fresh"),
  compatiblePasskeyState: read("account"),
  passkeyLogin: write(OPEN),
  compatiblePasskeyLoginBegin: write(OPEN),
  compatiblePasskeyLoginFinish: write(OPEN),
  passkeyLoginOptions: write(OPEN),
  compatiblePasskeyBegin: write("account", "fresh"),
  compatiblePasskeyFinish: write("account", "fresh"),
  walletPay: write("account"),
  register: write(OPEN),
  resetPassword: write(OPEN),
  userSearch: read("users"),
  selfDelete: destroy("account", "fresh"),
  selfGet: read("account"),
  selfUpdate: write("account"),
  accessTokenCreate: write("account", "fresh"),
  accessTokenDelete: destroy("account"),
  accessTokenList: read("account"),
  selfConfirm: write("account", "session"),
  selfGroups: read("account"),
  passkeyCreate: write("account", "fresh"),
  passkeyList: read("account"),
  passkeyOptions: write("account", "fresh"),
  passkeyDelete: destroy("account", "fresh"),
  passkeyRename: write("account", "session"),
  selfPreferences: read("account"),
  selfPreferencesUpdate: write("account"),
  selfNotifications: read("account"),
  selfNotificationsUpdate: write("account"),
  selfSessions: read("account"),
  selfSessionsEnd: destroy("account", "session"),
  selfSessionEnd: destroy("account", "session"),
  selfSignedIn: read("account"),
  twoFactorBegin: write("account", "fresh"),
  twoFactorGet: read("account"),
  twoFactorConfirm: write("account", "fresh"),
  twoFactorDisable: destroy("account", "session"),
  twoFactorCodes: write("account", "session"),
  stripeInfo: read("account"),
  stripeAmount: write("account"),
  stripePay: write("account"),
  selfAccessToken: write("account", "fresh"),
  orderList: read("billing"),
  walletRedeem: write("account"),
  topUpInfo: read("account"),
  orderListSelf: read("account"),
  userDelete: destroy("users"),
  userGet: read("users"),
  compatibleFactorReset: destroy("users", "fresh"),
  compatiblePasskeyReset: destroy("users", "fresh"),
  tokenListOfUser: read(["users", "tokens"]),
  userTwoFactorReset: destroy("users", "fresh"),
  // /api/verification
  sendEmailCode: write(OPEN),
};

/** The part of a call that determines its rights. */
interface RightsOwner {
  readonly name: string;
  /** The rights of a call outside the contract. */
  readonly rights: CallRights | undefined;
}

/**
 * Returns the rights of a call; undefined if it is not in the table. Clients never read the table, so calls do not
 * contain their rights and clients do not load them.
 */
export function findCallRights({ name, rights }: RightsOwner): CallRights | undefined {
  return CALL_RIGHTS[name] ?? rights;
}
