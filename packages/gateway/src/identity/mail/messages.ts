import type { Mail } from "./mailer.ts";

/** Texts of the mails about accounts. All inserted values are escaped. */

export function codeMail(to: string, systemName: string, code: string): Mail {
  return {
    to,
    subject: `${systemName} email verification`,
    html: page(`
<p>Hello,</p>
<p>you are verifying your address for <strong>${escapeHtml(systemName)}</strong>. Your code is</p>
<p style="font-size:24px;letter-spacing:4px"><strong>${escapeHtml(code)}</strong></p>
<p>It is valid for 10 minutes. If you did not ask for it, you can ignore this mail.</p>`),
  };
}

export function resetMail(to: string, systemName: string, link: string): Mail {
  const shown = escapeHtml(link);
  return {
    to,
    subject: `${systemName} password reset`,
    html: page(`
<p>Hello,</p>
<p>a new password was asked for at <strong>${escapeHtml(systemName)}</strong>. Open this link to get it:</p>
<p><a href="${shown}">${shown}</a></p>
<p>It is valid for 10 minutes. If you did not ask for it, you can ignore this mail.</p>`),
  };
}

/**
 * The mail to the owner of an address that another person wants to use; the answer of the call is the same as for a
 * free address.
 */
export function addressTakenMail(to: string, systemName: string): Mail {
  return {
    to,
    subject: `${systemName} email verification`,
    html: page(`
<p>Hello,</p>
<p>someone wants to use this address for an account of <strong>${escapeHtml(systemName)}</strong>. It belongs to an account already, so no code was sent.</p>
<p>If it was you, sign in or reset your password. If not, you can ignore this mail.</p>`),
  };
}

export function credentialMail(
  to: string,
  systemName: string,
  facts: { readonly username: string; readonly what: string; readonly ip: string; readonly at: string },
): Mail {
  const { username, what, ip, at } = facts;
  return {
    to,
    subject: `${systemName}: your account was changed`,
    html: page(`
<p>Hello,</p>
<p>the account <strong>${escapeHtml(username)}</strong> at <strong>${escapeHtml(systemName)}</strong> was changed:</p>
<p>${escapeHtml(what)}</p>
<p>At ${escapeHtml(at)}, from the address ${escapeHtml(ip)}.</p>
<p>If it was not you, change your password, end the other sessions in the settings, and tell your administrator.</p>`),
  };
}

/** Returns the address of the console's page that exchanges the token. */
export function resetLink(serverAddress: string, email: string, token: string): string {
  return `${serverAddress}/user/reset?email=${encodeURIComponent(email)}&token=${encodeURIComponent(token)}`;
}

export function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

function page(body: string): string {
  return `<!doctype html><html lang="en"><body>${body}\n</body></html>`;
}
