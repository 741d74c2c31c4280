const PARTS = /^(?<scheme>[a-z+]+:\/\/)(?:(?<user>[^/@]*)@)?(?<rest>.+)$/;

/** Puts a password into the URL of a server. Throws an Error with the remedy if there is no place for it. */
export function addPassword(url: string, password: string): string {
  const { scheme, user = "", rest } = PARTS.exec(url)?.groups ?? {};
  if (scheme === undefined || rest === undefined) throw new Error("give the URL of a server, or remove the password");
  if (user.includes(":")) throw new Error("give the password in one place: the URL has one too");
  return `${scheme}${user}:${encodeURIComponent(password)}@${rest}`;
}
