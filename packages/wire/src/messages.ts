interface MessageEntry {
  /** HTTP status that carries the message; 200 is the rule for business outcomes. */
  readonly status: number;
  /** `{x}` places are filled by `fill`. */
  readonly text: string;
}

/**
 * Every text that the management API answers with, under the stable code that travels beside it.
 * G1 is sent with status 400 when the body itself cannot be read.
 */
export const MESSAGES = {
  G1: { status: 200, text: "Invalid parameter." },
  G2: { status: 200, text: "Invalid input: {field} {reason}." },
  G3: { status: 429, text: "Too many requests, please try again later!" },
  G4: { status: 500, text: "Internal server error, please contact the administrator!" },
  G5: { status: 503, text: "Database connection failed." },
  G6: { status: 404, text: "Invalid URL ({method} {path})" },
  G7: { status: 413, text: "Request body too large." },
  G8: { status: 412, text: "It was changed by someone else in the meantime, please reload." },
  AU1: { status: 401, text: "Not logged in or login has expired, please log in again!" },
  AU2: { status: 401, text: "Invalid access token." },
  AU3: { status: 401, text: "The New-Api-User header is missing." },
  AU4: { status: 401, text: "The New-Api-User header is not a valid user id." },
  AU5: { status: 401, text: "The New-Api-User header does not match the logged-in user." },
  AU6: { status: 401, text: "This account has been disabled." },
  AU7: { status: 200, text: "Insufficient permissions." },
  AU8: { status: 401, text: "This account has been deleted." },
  L1: { status: 200, text: "Password login has been disabled by the administrator." },
  L2: { status: 200, text: "Please enter your username and password!" },
  L3: { status: 200, text: "Wrong username or password, or the account has been disabled." },
  L4: { status: 200, text: "Too many failed login attempts, please try again later." },
  L5: { status: 200, text: "Please enter the code of your authenticator or a recovery code." },
  L6: { status: 200, text: "The code is wrong or has been used already." },
  F1: { status: 200, text: "Two-factor sign-in is already switched on." },
  F2: { status: 200, text: "Two-factor sign-in is not switched on." },
  F3: { status: 200, text: "Please begin with a new authenticator secret." },
  F4: { status: 200, text: "Passkey does not exist." },
  F5: { status: 200, text: "You cannot have more than {n} passkeys." },
  F6: { status: 200, text: "This passkey is already registered." },
  F7: { status: 200, text: "The passkey could not be verified, please try again." },
  R1: { status: 200, text: "New user registration has been disabled by the administrator." },
  R2: {
    status: 200,
    text: "Registration with a password has been disabled by the administrator, please register with a third-party account.",
  },
  R3: { status: 200, text: "The password length must not be less than 8 characters!" },
  R4: { status: 200, text: "The passwords entered twice do not match." },
  R5: { status: 200, text: "Email verification is enabled, please enter an email address and the verification code." },
  R6: { status: 200, text: "The verification code is wrong or has expired." },
  R7: { status: 200, text: "The username already exists or has been deleted." },
  R8: { status: 200, text: "The email address is already in use." },
  R9: { status: 200, text: "The username must be 1 to 20 characters without spaces, @ or /." },
  R10: { status: 200, text: "The password length must not be more than 128 characters." },
  E1: { status: 200, text: "Please enter your email!" },
  E2: { status: 200, text: "Invalid email address." },
  E3: { status: 200, text: "This email domain is not on the administrator's list of allowed domains." },
  E4: { status: 200, text: "Email addresses with a + or . before the @ are not allowed by the administrator." },
  E5: { status: 200, text: "Please wait {n} seconds before requesting another email." },
  E6: { status: 200, text: "The SMTP server is not configured." },
  E7: { status: 200, text: "The email could not be sent, please contact the administrator." },
  E8: { status: 200, text: "The reset link is invalid or has expired." },
  E9: { status: 200, text: "Please enter the email verification code!" },
  T1: { status: 200, text: "Please try again in a few seconds, Turnstile is checking the user environment!" },
  T2: { status: 200, text: "The Turnstile check failed, please refresh the page and try again." },
  T3: { status: 200, text: "The Turnstile server cannot be reached, please try again later." },
  O1: { status: 403, text: "The OAuth state is missing or does not match." },
  O2: { status: 200, text: "The administrator has not enabled {provider} login." },
  O3: { status: 200, text: "Unable to reach the {provider} server, please try again later." },
  O4: { status: 200, text: "{provider} returned an invalid answer, please try again later." },
  O5: { status: 200, text: "This {provider} account is already bound to a user." },
  O6: { status: 200, text: "This Telegram account is not bound to any user." },
  O7: { status: 200, text: "Invalid Telegram authorization." },
  U1: { status: 200, text: "User does not exist." },
  U2: { status: 200, text: "No permission to view a user of the same or a higher role." },
  U3: { status: 200, text: "No permission to modify a user of the same or a higher role." },
  U4: { status: 200, text: "No permission to raise a user to your own role or above." },
  U5: { status: 200, text: "No permission to create a user with your own role or above." },
  U6: { status: 200, text: "The super administrator cannot be disabled." },
  U7: { status: 200, text: "The super administrator cannot be deleted." },
  U8: { status: 200, text: "Only the super administrator can promote users." },
  U9: { status: 200, text: "The user is already an administrator." },
  U10: { status: 200, text: "The super administrator cannot be demoted." },
  U11: { status: 200, text: "The user is already a regular user." },
  U12: { status: 200, text: "Unknown action." },
  U13: { status: 200, text: "The user has been deleted." },
  U14: { status: 200, text: "No permission to delete a user of the same or a higher role." },
  U15: { status: 200, text: "Group {g} does not exist." },
  U16: { status: 200, text: "The quota must be an integer not below 0." },
  U17: { status: 200, text: "The minimum amount for transfer is {min}" },
  U18: { status: 200, text: "Insufficient invitation quota." },
  U19: { status: 200, text: "Transfer succeeded." },
  U20: { status: 200, text: "The current password is wrong." },
  P1: { status: 200, text: "Unable to enable GitHub OAuth: fill in the GitHub client id and client secret first." },
  P2: { status: 200, text: "Unable to enable the email domain restriction: fill in the allowed domains first." },
  P3: { status: 200, text: "Unable to enable WeChat login: fill in the WeChat server settings first." },
  P4: {
    status: 200,
    text: "Unable to enable the Turnstile check: fill in the Turnstile site key and secret key first.",
  },
  P5: { status: 200, text: "Unable to enable Telegram login: fill in the Telegram bot token and bot name first." },
  P6: { status: 200, text: "Unknown option {key}." },
  P7: { status: 200, text: "Not a valid JSON string." },
  P8: { status: 200, text: "The recharge group multiplier is not a valid JSON string." },
  P9: { status: 200, text: "The value of {key} must be {rule}." },
  P10: { status: 200, text: "Please fill in the server address first." },
  P11: { status: 200, text: "Model ratios have been reset." },
  P12: { status: 200, text: "Ratios and prices must be numbers not below 0: {name}" },
  CH1: { status: 200, text: "Please fill in the channel name and channel key!" },
  CH2: { status: 200, text: "Please select at least one model!" },
  CH3: { status: 200, text: "The model mapping must be in a valid JSON format!" },
  CH4: { status: 200, text: "The status code mapping must be in a valid JSON format!" },
  CH5: { status: 200, text: "The deployment region must not be empty." },
  CH6: { status: 200, text: "The deployment region must contain the key default." },
  CH7: { status: 200, text: "The model name is too long: {model}" },
  CH8: { status: 200, text: "Channel does not exist." },
  CH9: { status: 200, text: "Only supports OpenAI interface format." },
  CH10: { status: 200, text: "Failed to retrieve the model list." },
  CH11: { status: 200, text: "A channel test is already running." },
  CH12: { status: 200, text: "This channel type cannot be tested." },
  CH13: { status: 200, text: "Querying the balance of this channel type is not supported." },
  CH14: { status: 200, text: "The tag must not be empty." },
  CH15: { status: 200, text: "Unknown channel type." },
  CH16: { status: 200, text: "Please select the channel you want to delete first!" },
  CH17: { status: 200, text: "The status can only be set to 1 or 2." },
  CH18: { status: 200, text: "A balance update is already running." },
  CH19: { status: 200, text: "Please enter the key." },
  CH20: { status: 200, text: "The channel has been changed in the meantime, please refresh the page and try again." },
  K1: { status: 200, text: "The token name is too long." },
  K2: { status: 200, text: "Token does not exist." },
  K3: {
    status: 200,
    text: "The token has expired and cannot be enabled, please change its expiration time or set it to never expire first.",
  },
  K4: {
    status: 200,
    text: "The token quota is used up and the token cannot be enabled, please change its remaining quota or set it to unlimited first.",
  },
  K5: { status: 200, text: "No permission to use group {g}." },
  K6: { status: 200, text: "Invalid IP address or network: {line}" },
  K7: { status: 200, text: "You cannot have more than {n} tokens." },
  D1: { status: 200, text: "The redemption code name must be 1 to 20 characters long." },
  D2: { status: 200, text: "The number of redemption codes must be greater than 0." },
  D3: { status: 200, text: "No more than 100 redemption codes can be generated at a time." },
  D4: { status: 200, text: "Redemption code does not exist." },
  D5: { status: 200, text: "A used redemption code cannot be enabled or edited." },
  D6: { status: 200, text: "Please enter the redemption code!" },
  D7: { status: 200, text: "Invalid redemption code." },
  D8: { status: 200, text: "The redemption code has already been used." },
  D9: { status: 200, text: "The redemption code has been disabled." },
  D10: { status: 200, text: "The redemption quota must be an integer greater than 0." },
  Y1: { status: 200, text: "The recharge amount cannot be less than {min}" },
  Y2: { status: 200, text: "The recharge amount is too low." },
  Y3: { status: 200, text: "The administrator has not configured online payment." },
  Y4: { status: 200, text: "Unknown payment method." },
  Y5: { status: 200, text: "The order could not be created." },
  Y6: { status: 400, text: "The signature of the payment event is wrong." },
  Y7: { status: 200, text: "The payment provider cannot be reached, please try again later." },
  H1: { status: 200, text: "Please select the log recording time." },
  H2: { status: 200, text: "The time span cannot exceed 1 month." },
  H3: { status: 200, text: "Log does not exist." },
  J1: { status: 200, text: "Job does not exist." },
  SU1: { status: 400, text: "The system has already been initialised." },
  SU2: { status: 200, text: "The system has been initialised." },
  SU3: { status: 400, text: "Setup is closed: a setup token is required." },
} as const satisfies Record<string, MessageEntry>;

export type MessageCode = keyof typeof MESSAGES;
export type MessageValues = Readonly<Record<string, string | number>>;

/** Reasons of G2, in the words of the contract. */
export const REASONS = {
  string: "must be a string",
  integer: "must be an integer",
  number: "must be a number",
  boolean: "must be a boolean",
  integers: "must be an array of integers",
  strings: "must be an array of strings",
  object: "must be a JSON object",
  atLeast: "must be at least {n}",
  atMost: "must be at most {n}",
  tooLong: "is too long",
} as const;

/** Replaces `{name}` places by `values`; places without a value stay, inherited properties never fill one. */
export function fill(template: string, values: MessageValues = {}): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : place,
  );
}

/** The text of a code with its places filled. */
export function messageText(code: MessageCode, values: MessageValues = {}): string {
  return fill(MESSAGES[code].text, values);
}

export function isMessageCode(value: unknown): value is MessageCode {
  return typeof value === "string" && Object.hasOwn(MESSAGES, value);
}
