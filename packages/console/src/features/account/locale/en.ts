export const en = {
  title: "Log in",
  username: "Username",
  password: "Password",
  submit: "Log in",
  expired: "Not logged in or login has expired, please log in again!",
  missing: "Please enter your username and password!",
  passwordOff: "Password login has been disabled by the administrator.",
} as const;
