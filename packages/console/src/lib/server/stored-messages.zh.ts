/** Server messages about what clients leave at providers. */
export const storedMessages = {
  channel_has_batches:
    "{channels} 有 {count} 个批处理正在运行或尚未结算。请等待其结算，或强制删除：将请求提供商取消它们，之后由人工放弃。",
  channel_key_in_use:
    "密钥 {key} 所属账户仍有 {files} 个文件或缓存和 {batches} 个正在运行或尚未结算的批处理。请将其绑定到同一账户的另一个密钥、等待，或强制移除该密钥：届时将请求服务商取消批处理，文件将丢失。",
  batch_not_found: "批处理不存在。",
  batch_not_ready: "批处理的状态为 {phase}，此操作需要状态为 {needed} 的批处理。",
  batch_not_cancelled: "服务商未取消批处理：{reason}",
  batch_account_lost: "批处理所用的渠道或密钥已不存在，无法读取结果。放弃该批处理即可退回押金。",
  batch_results_unreadable: "无法读取批处理的结果：{reason}",
  batch_item_not_found: "批处理的结果中没有请求 {custom_id}。",
  account_mark_unknown: "该渠道没有标记为 {mark} 的密钥。",
  stored_file_not_found: "文件不存在。",
  stored_cache_not_found: "缓存不存在或已结束。",
  stored_cache_not_deleted: "服务商未删除该缓存：{reason}",
  stored_file_not_deleted: "服务商未删除该文件：{reason}",
};
