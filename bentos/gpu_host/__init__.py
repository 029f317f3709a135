"""The Bento for the GPU host: its settings, the supervisor of vLLM, and the access filter in front of vLLM.

Imports nothing of the text API: the image of that Bento holds vLLM and BentoML only, and vLLM itself loads the door.
"""

from bentos.gpu_host.child import Backoff, Child
from bentos.gpu_host.host_settings import Host, WrongSetting, command, environment, read
