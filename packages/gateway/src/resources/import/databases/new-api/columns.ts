import type { ImportReport } from "../../report.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";

/** Columns that are read, or that contain nothing about an imported item. Other columns with content are reported. */
const READ: Readonly<Record<string, readonly string[]>> = {
  users: [
    "id,username,password,original_password,display_name,role,status,email,github_id,wechat_id,telegram_id",
    "linux_do_id,oidc_id,access_token,quota,used_quota,request_count,group,aff_code,aff_count,aff_quota,aff_history",
    "inviter_id,created_at,created_time,updated_at,deleted_at,last_login_at,verification_code",
  ],
  tokens: [
    "id,user_id,key,status,name,created_time,accessed_time,expired_time,remain_quota,unlimited_quota,used_quota",
    "model_limits_enabled,model_limits,models,allow_ips,subnet,group,deleted_at",
  ],
  channels: [
    "id,type,key,status,name,weight,created_time,test_time,response_time,base_url,other,balance,balance_updated_time",
    "models,group,used_quota,model_mapping,status_code_mapping,priority,config,auto_ban,other_info,tag,setting,settings",
    "param_override,header_override,openai_organization,test_model,max_input_tokens,channel_info,system_prompt,deleted_at",
  ],
};

const KNOWN = new Map(Object.entries(READ).map(([table, lines]) => [table, new Set(lines.join().split(","))]));

/** Reports the columns of a row that are not imported. */
export function remarkColumns(report: ImportReport, table: string, row: ForeignRow, name: string): void {
  for (const column of row.filled)
    if (KNOWN.get(table)?.has(column) === false) report.remark(`${table} have ${column}: this is not imported`, name);
}
