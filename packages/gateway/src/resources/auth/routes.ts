import { login, logout, logoutByPost, register } from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { codeRoutes, type CodeRoutesDeps } from "./code-routes.ts";
import { compatibleFactorRoutes, type CompatibleFactorDeps } from "./compatible-factor-routes.ts";
import { emailRoutes, type EmailRoutesDeps } from "./email-routes.ts";
import { oauthRoutes } from "./oauth-routes.ts";
import { passkeyRoutes } from "./passkey-routes.ts";
import { providerRoutes } from "./provider-routes.ts";
import { registerAccount, type RegisterDeps } from "./register.ts";
import { secondFactorRoutes, type SecondFactorRoutesDeps } from "./second-factor-routes.ts";
import { secondStepRoute } from "./second-step.ts";
import { signInByPassword, type SignInDeps } from "./sign-in.ts";

export interface AuthRoutesDeps {
  readonly signIn: SignInDeps;
  readonly register: RegisterDeps;
  readonly email: EmailRoutesDeps;
  readonly oauth: CodeRoutesDeps;
  readonly factors: CompatibleFactorDeps & SecondFactorRoutesDeps;
}

export function authRoutes(deps: AuthRoutesDeps): Route[] {
  const { credentials } = deps.signIn;
  const signOut = async ({
    request,
    response,
    context,
  }: Pick<Call<typeof logout>, "request" | "response" | "context">) => {
    const redirect = await credentials.signOut(request, response, context.isSecure);
    return redirect === undefined ? undefined : { redirect };
  };
  return [
    implement(login, (call) => signInByPassword(deps.signIn, call, call.body)),
    implement(logout, signOut),
    implement(logoutByPost, signOut),
    implement(register, (call) => registerAccount(deps.register, call)),
    ...emailRoutes(deps.email),
    ...oauthRoutes(deps.oauth),
    ...codeRoutes(deps.oauth),
    ...providerRoutes(deps.oauth),
    secondStepRoute(deps.oauth),
    ...secondFactorRoutes(deps.factors),
    ...passkeyRoutes(deps.factors),
    ...compatibleFactorRoutes(deps.factors),
  ];
}
