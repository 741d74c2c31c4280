import { logout } from "@fairway/wire";
import { useCallback } from "react";
import { useNavigate } from "react-router";
import { call } from "../../lib/http.ts";
import { toast, toastProblem } from "../../ui/toaster.ts";
import { useTexts } from "../texts.ts";
import { forgetUser } from "./session.ts";

export function useSignOut(): () => void {
  const t = useTexts();
  const navigate = useNavigate();
  return useCallback(() => {
    call(logout, {}).then(() => {
      forgetUser();
      toast("success", t("signedOut"));
      void navigate("/login");
    }, toastProblem);
  }, [navigate, t]);
}
