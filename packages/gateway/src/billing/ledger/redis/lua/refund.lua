-- Undoes a charge that the database already had, unless the entry was claimed by another settler, which may have booked
-- it.
--
-- The first two keys are the accounts of user and token, the first two arguments the ids of the loads that the charge
-- was taken from, or ''. An account that has been loaded again since then is left unchanged, because its balance comes
-- from the database, which has the charge.

local streamKey = KEYS[3]
local quota = ARGV[3]
local group = ARGV[4]
local settler = ARGV[5]
local entryId = ARGV[6]

if #redis.call('XPENDING', streamKey, group, entryId, entryId, 1, settler) == 0 then return 0 end
for at = 1, 2 do
  if ARGV[at] ~= '' and redis.call('HGET', KEYS[at], 'i') == ARGV[at] then redis.call('HINCRBY', KEYS[at], 'b', quota) end
end
return 1
