-- Applies a changed limit of a token, read at the tokens revision `readRevision`, for the change of `changeRevision`.
--
-- An account that already has the change is left unchanged, so that a repeated change cannot hide a wrong grant from
-- the audit. An account that is being loaded is read again; one that is not in Redis is read at its next use.

local epochKey = KEYS[1]
local accountKey = KEYS[2]
local newGrant = ARGV[1]
local readRevision = ARGV[2]
local changeRevision = ARGV[3]

local a = redis.call('HMGET', accountKey, 'e', 'r', 'n')
if not a[1] and not a[3] then return 0 end
if a[1] ~= redis.call('GET', epochKey) then return redis.call('HINCRBY', accountKey, 'n', 1) end
local known = tonumber(a[2] or '0')
if known >= tonumber(changeRevision) or known > tonumber(readRevision) then return 0 end
return redis.call('HSET', accountKey, 'g', newGrant, 'r', readRevision)
